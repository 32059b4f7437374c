//! Tools that fail in every way a tool can, and record their effects in the ledger of the
//! observation log.

mod execution;

use std::sync::Arc;

use windlass_core::call::call_facts::{
    AnsweredBy, CallFacts, Interruptibility, ProbeSupport, Repeatability,
};
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::ids::LaneId;
use windlass_core::log::input::ProbeResult;
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::ToolSpec;
use windlass_runtime::ToolRegistry;
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use super::clock::sleep_virtual;
use super::observation_log::{ExecutionTruth, ProcessId, ToolExecution};
use super::process_gate::{ProcessGate, ProcessLife, WorldAccess};
use super::seeded_rng::SeededRng;
use super::shared::{SharedWorld, lane_id, lane_in};

/// The tools of a world, by name.
pub(crate) const NAMES: [&str; 8] =
    ["read", "put", "send", "upload", "shell", "deploy", "rm", "ask_human"];

/// How long a call may take.
const TIMEOUT_MS: u64 = 400;

struct SimTool {
    name: &'static str,
    shared: Arc<SharedWorld>,
    process: ProcessId,
    gate: Arc<ProcessGate>,
}

/// Returns the tools of one process.
pub(crate) fn toolbox(
    shared: &Arc<SharedWorld>,
    process: ProcessId,
    gate: &Arc<ProcessGate>,
) -> ToolRegistry {
    NAMES.into_iter().fold(ToolRegistry::default(), |tools, name| {
        let (shared, gate) = (Arc::clone(shared), Arc::clone(gate));
        tools.with(SimTool { name, shared, process, gate })
    })
}

/// Returns the facts of a call.
pub(crate) fn facts(name: &str, input: &RawJson) -> CallFacts {
    let input = input.read::<serde_json::Value>().ok();
    let on = input.as_ref().and_then(|input| input.get("on")?.as_str());
    let keys: Vec<Arc<str>> = on.into_iter().map(Arc::from).collect();
    let misfit = input.as_ref().is_some_and(|input| input.get("misfit").is_some());
    let problem = misfit.then(|| ToolError::new("invalid_input", "it does not fit", "mend it"));
    let known = CallFacts { problem, timeout_ms: TIMEOUT_MS, ..CallFacts::for_unknown_tool(name) };
    match name {
        "read" => CallFacts { interrupt: Interruptibility::Interruptible, ..reads(known, keys) },
        "ask_human" => CallFacts { answered_by: AnsweredBy::Human, ..reads(known, keys) },
        "put" => CallFacts { touches: TouchedResources::Writes(keys), ..known },
        "send" => CallFacts {
            touches: TouchedResources::Writes(keys),
            probe: ProbeSupport::Supported,
            ..known
        },
        "upload" => CallFacts {
            repeat: Repeatability::Repeatable,
            touches: TouchedResources::Writes(keys),
            ..known
        },
        "shell" => CallFacts { interrupt: Interruptibility::Interruptible, ..known },
        "deploy" => CallFacts { probe: ProbeSupport::Supported, ..known },
        "rm" => known,
        _ => CallFacts::for_unknown_tool(name),
    }
}

fn reads(known: CallFacts, keys: Vec<Arc<str>>) -> CallFacts {
    CallFacts { touches: TouchedResources::Reads(keys), repeat: Repeatability::Repeatable, ..known }
}

impl SimTool {
    fn effect(&self, context: &CallContext, input: RawJson, started: u64) -> ToolExecution {
        ToolExecution {
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

    async fn find_out(&self, context: CallContext) -> ProbeResult {
        let mut rng =
            SeededRng::about(self.shared.plan.seed, &format!("probe {}", context.idempotency_key));
        sleep_virtual(rng.below(40)).await;
        self.gate.pass(WorldAccess::Work).await;
        if rng.chance(15) {
            // A probe that never returns.
            sleep_virtual(TIMEOUT_MS * 1_000).await;
        }
        match self.shared.observations.truth(&context.idempotency_key) {
            _ if rng.chance(20) => ProbeResult::Unknown {},
            ExecutionTruth::Happened => {
                let text = format!("{} was done", context.idempotency_key);
                ProbeResult::Happened { text: text.into() }
            }
            ExecutionTruth::DidNotHappen => ProbeResult::DidNotHappen {},
            ExecutionTruth::Open => ProbeResult::Unknown {},
        }
    }
}

fn lane_of(context: &CallContext) -> LaneId {
    lane_in(&context.idempotency_key).unwrap_or_else(|| lane_id(usize::MAX))
}

impl Tool for SimTool {
    fn spec(&self) -> ToolSpec {
        let input_schema = RawJson::encode(&serde_json::json!({ "type": "object" }));
        ToolSpec { name: self.name.into(), description: "a tool".into(), input_schema }
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        facts(self.name, input)
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(async move {
            if self.gate.life() == ProcessLife::Dead {
                std::future::pending::<()>().await;
            }
            execution::execute(self, context, input).await
        })
    }

    fn probe(&self, context: CallContext, _input: RawJson) -> BoxFuture<'_, ProbeResult> {
        Box::pin(self.find_out(context))
    }
}
