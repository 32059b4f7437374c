//! Hooks with opinions: most pass, some deny, some change the call, some break down.

use std::sync::Arc;

use windlass_core::Conversation;
use windlass_core::call::Call;
use windlass_core::counsel::{Advice, Counsel};
use windlass_core::input::HookAnswer;
use windlass_core::outcome::Outcome;
use windlass_core::permission::Lean;
use windlass_core::raw::Raw;
use windlass_runtime::ports::{Heard, Hooks, Scene, Task};

use super::clock::nap;
use super::dice::Dice;
use super::gate::{Door, Gate};
use super::shared::Shared;
use super::tools;

pub(crate) struct SimHooks {
    pub(crate) shared: Arc<Shared>,
    pub(crate) gate: Arc<Gate>,
}

impl SimHooks {
    async fn answer(&self, point: &str, call: Call) -> HookAnswer {
        let subject = format!("{point} {} {}", call.id, call.tool_use.input.text());
        let mut dice = Dice::about(self.shared.plan.seed, &subject);
        nap(dice.below(30)).await;
        self.gate.pass(Door::Work).await;
        match dice.below(14) {
            12 => HookAnswer::Allow {},
            13 => HookAnswer::Ask {},
            0 => HookAnswer::Deny { reason: format!("{point} says no").into() },
            1 | 2 => change(&call),
            // As `panic!`, without the message on the terminal.
            3 => std::panic::resume_unwind(Box::new("the hook broke".to_owned())),
            _ => HookAnswer::Pass {},
        }
    }
}

fn change(call: &Call) -> HookAnswer {
    let input = Raw::encode(&serde_json::json!({ "on": "a", "changed": true }));
    let facts = Box::new(tools::facts(&call.tool_use.name, &input));
    HookAnswer::Change { input, facts, lean: Lean::Neutral }
}

impl SimHooks {
    async fn advise(&self, about: Counsel, conversation: Conversation) -> Advice {
        let at_ms = self.shared.wall.elapsed_ms();
        let subject = format!("{} {} {at_ms}", about.name(), conversation.counsels);
        let mut dice = Dice::about(self.shared.plan.seed, &subject);
        nap(dice.below(60)).await;
        self.gate.pass(Door::Work).await;
        match dice.below(12) {
            0 | 1 => Advice::Block { reason: "not like this".into() },
            2 => Advice::Stop { reason: "enough".into() },
            3 | 4 => Advice::Pass { context: Some("mind the depth".into()) },
            // As `panic!`, without the message on the terminal.
            5 => std::panic::resume_unwind(Box::new("the hook broke".to_owned())),
            _ => Advice::Pass { context: None },
        }
    }
}

impl Hooks for SimHooks {
    fn counsel(&self, scene: Scene, about: Counsel) -> Task<'_, Advice> {
        Box::pin(self.advise(about, scene.conversation))
    }

    fn before(&self, _scene: Scene, call: Call) -> Task<'_, Heard> {
        Box::pin(async move { self.answer("before", call).await.into() })
    }

    fn after(&self, _scene: Scene, call: Call, _outcome: Outcome) -> Task<'_, Heard> {
        Box::pin(async move { self.answer("after", call).await.into() })
    }
}
