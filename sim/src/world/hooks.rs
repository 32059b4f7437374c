//! Hooks of a simulated world: most pass, some deny, defer or change the call, some end the run, some
//! panic.

use std::sync::Arc;

use windlass_core::Conversation;
use windlass_core::call::call_state::Call;
use windlass_core::call::outcome::ToolOutcome;
use windlass_core::log::input::HookDecision;
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::HookPreference;
use windlass_core::run::review::{Review, ReviewResult};
use windlass_runtime::ports::{BoxFuture, HookContext, HookResponse, Hooks};

use super::clock::sleep_virtual;
use super::process_gate::{ProcessGate, WorldAccess};
use super::seeded_rng::SeededRng;
use super::shared::SharedWorld;
use super::tools;

pub(crate) struct SimHooks {
    pub(crate) shared: Arc<SharedWorld>,
    pub(crate) gate: Arc<ProcessGate>,
}

impl SimHooks {
    async fn answer(&self, point: &str, call: Call) -> HookResponse {
        let subject = format!("{point} {} {}", call.id, call.tool_use.input.text());
        let mut rng = SeededRng::about(self.shared.plan.seed, &subject);
        sleep_virtual(rng.below(30)).await;
        self.gate.pass(WorldAccess::Work).await;
        let decision = match rng.below(30) {
            24 | 25 => HookDecision::Allow {},
            26 | 27 => HookDecision::Ask { reason: Some("it looks odd".into()) },
            28 => HookDecision::Defer {},
            0 | 1 => HookDecision::Deny { reason: format!("{point} says no").into() },
            2..6 => change(&call),
            // As `panic!`, without the message on the terminal.
            6 | 7 => std::panic::resume_unwind(Box::new("the hook broke".to_owned())),
            _ => HookDecision::Pass {},
        };
        let response = HookResponse::from(decision);
        if rng.chance(3) { response.ending_run("enough") } else { response }
    }
}

fn change(call: &Call) -> HookDecision {
    let input = RawJson::encode(&serde_json::json!({ "on": "a", "changed": true }));
    let facts = Box::new(tools::facts(&call.tool_use.name, &input));
    HookDecision::Change { input, facts, preference: HookPreference::Neutral, reason: None }
}

impl SimHooks {
    async fn advise(&self, about: Review, conversation: Conversation) -> ReviewResult {
        let at_ms = self.shared.wall.elapsed_ms();
        let subject = format!("{} {} {at_ms}", about.name(), conversation.review_count);
        let mut rng = SeededRng::about(self.shared.plan.seed, &subject);
        sleep_virtual(rng.below(60)).await;
        self.gate.pass(WorldAccess::Work).await;
        match rng.below(12) {
            0 | 1 => ReviewResult::Block { reason: "not like this".into() },
            2 => ReviewResult::Stop { reason: "enough".into() },
            3 | 4 => ReviewResult::Pass { context: Some("mind the depth".into()) },
            // As `panic!`, without the message on the terminal.
            5 => std::panic::resume_unwind(Box::new("the hook broke".to_owned())),
            _ => ReviewResult::Pass { context: None },
        }
    }
}

impl Hooks for SimHooks {
    fn review(&self, scene: HookContext, about: Review) -> BoxFuture<'_, ReviewResult> {
        Box::pin(self.advise(about, scene.conversation))
    }

    fn before_tool_call(&self, _scene: HookContext, call: Call) -> BoxFuture<'_, HookResponse> {
        Box::pin(async move { self.answer("before", call).await })
    }

    fn after_tool_call(
        &self,
        _scene: HookContext,
        call: Call,
        _outcome: ToolOutcome,
    ) -> BoxFuture<'_, HookResponse> {
        Box::pin(async move { self.answer("after", call).await })
    }
}
