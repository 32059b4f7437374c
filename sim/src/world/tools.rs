//! Tools that fail in every way a tool can, and leave their traces in the witness's ledger.

mod act;

use std::sync::Arc;

use windlass_core::facts::{AnsweredBy, Facts, Interrupt, Repeat, Verify};
use windlass_core::ids::LaneId;
use windlass_core::input::Finding;
use windlass_core::order::Touches;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::Toolbox;
use windlass_runtime::ports::{CallContext, Task, Tool};

use super::clock::nap;
use super::dice::Dice;
use super::gate::{Door, Gate, Life};
use super::shared::{Shared, lane_id, lane_in};
use super::witness::{Effect, ProcessId, Truth};

/// The tools of a world, by name.
pub(crate) const NAMES: [&str; 8] =
    ["read", "put", "send", "upload", "shell", "deploy", "rm", "ask_human"];

/// How long a call may take.
const TIMEOUT_MS: u64 = 400;

struct SimTool {
    name: &'static str,
    shared: Arc<Shared>,
    process: ProcessId,
    gate: Arc<Gate>,
}

/// The tools as one process has them.
pub(crate) fn toolbox(shared: &Arc<Shared>, process: ProcessId, gate: &Arc<Gate>) -> Toolbox {
    NAMES.into_iter().fold(Toolbox::default(), |tools, name| {
        let (shared, gate) = (Arc::clone(shared), Arc::clone(gate));
        tools.with(SimTool { name, shared, process, gate })
    })
}

/// What is known of a call.
pub(crate) fn facts(name: &str, input: &Raw) -> Facts {
    let input = input.read::<serde_json::Value>().ok();
    let on = input.as_ref().and_then(|input| input.get("on")?.as_str());
    let keys: Vec<Arc<str>> = on.into_iter().map(Arc::from).collect();
    let misfit = input.as_ref().is_some_and(|input| input.get("misfit").is_some());
    let problem = misfit.then(|| ToolError::new("invalid_input", "it does not fit", "mend it"));
    let known = Facts { problem, timeout_ms: TIMEOUT_MS, ..Facts::unknown(name) };
    match name {
        "read" => Facts { interrupt: Interrupt::Interruptible, ..reads(known, keys) },
        "ask_human" => Facts { answered_by: AnsweredBy::Human, ..reads(known, keys) },
        "put" => Facts { touches: Touches::Writes(keys), ..known },
        "send" => Facts { touches: Touches::Writes(keys), verify: Verify::CanTell, ..known },
        "upload" => Facts { repeat: Repeat::Repeatable, touches: Touches::Writes(keys), ..known },
        "shell" => Facts { interrupt: Interrupt::Interruptible, ..known },
        "deploy" => Facts { verify: Verify::CanTell, ..known },
        "rm" => known,
        _ => Facts::unknown(name),
    }
}

fn reads(known: Facts, keys: Vec<Arc<str>>) -> Facts {
    Facts { touches: Touches::Reads(keys), repeat: Repeat::Repeatable, ..known }
}

impl SimTool {
    fn effect(&self, context: &CallContext, input: Raw, started: u64) -> Effect {
        Effect {
            process: self.process,
            lane: lane_of(context),
            key: context.idempotency_key.clone(),
            call: context.call,
            attempt: context.attempt,
            tool: self.name,
            facts: facts(self.name, &input),
            input,
            started,
            fired: None,
            ended: None,
        }
    }

    async fn find_out(&self, context: CallContext) -> Finding {
        let mut dice =
            Dice::about(self.shared.plan.seed, &format!("probe {}", context.idempotency_key));
        nap(dice.below(40)).await;
        self.gate.pass(Door::Work).await;
        if dice.chance(15) {
            // A probe that never comes back.
            nap(TIMEOUT_MS * 1_000).await;
        }
        match self.shared.witness.truth(&context.idempotency_key) {
            _ if dice.chance(20) => Finding::Unknown {},
            Truth::Happened => {
                let text = format!("{} was done", context.idempotency_key);
                Finding::Happened { text: text.into() }
            }
            Truth::DidNotHappen => Finding::DidNotHappen {},
            Truth::Open => Finding::Unknown {},
        }
    }
}

fn lane_of(context: &CallContext) -> LaneId {
    lane_in(&context.idempotency_key).unwrap_or_else(|| lane_id(usize::MAX))
}

impl Tool for SimTool {
    fn spec(&self) -> ToolSpec {
        let schema = Raw::encode(&serde_json::json!({ "type": "object" }));
        ToolSpec { name: self.name.into(), description: "a tool".into(), input_schema: schema }
    }

    fn assess(&self, input: &Raw) -> Facts {
        facts(self.name, input)
    }

    fn run(&self, context: CallContext, input: Raw) -> Task<'_, Outcome> {
        Box::pin(async move {
            if self.gate.life() == Life::Dead {
                std::future::pending::<()>().await;
            }
            act::execute(self, context, input).await
        })
    }

    fn verify(&self, context: CallContext, _input: Raw) -> Task<'_, Finding> {
        Box::pin(self.find_out(context))
    }
}
