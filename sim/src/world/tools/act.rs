//! One execution of a tool: it starts, possibly changes the world, possibly returns.

use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;
use windlass_runtime::ports::CallContext;

use super::SimTool;
use crate::world::clock::nap;
use crate::world::dice::SeededRng;
use crate::world::observation_log::{EffectId, ExecutionEnd, ObservationLog};
use crate::world::process_gate::WorldAccess;

/// The course of an execution.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ExecutionFate {
    #[default]
    Works,
    FailsInPassing,
    Fails,
    Fatal,
    Panics,
    Hangs,
}

/// Closes the line in the ledger however the execution ends.
struct OpenExecution<'a> {
    witness: &'a ObservationLog,
    effect: EffectId,
}

impl Drop for OpenExecution<'_> {
    fn drop(&mut self) {
        let panicking = std::thread::panicking();
        let ending = if panicking { ExecutionEnd::Panicked } else { ExecutionEnd::Dropped };
        self.witness.end(self.effect, ending);
    }
}

pub(super) async fn execute(tool: &SimTool, context: CallContext, input: RawJson) -> ToolOutcome {
    let witness = &tool.shared.witness;
    let nth = witness.executions(&context.idempotency_key);
    let effect = witness.start(|tick| tool.effect(&context, input, tick));
    let line = OpenExecution { witness, effect };
    let subject = format!("{}:{}:{nth}", context.idempotency_key, context.attempt);
    let mut dice = SeededRng::about(tool.shared.plan.seed, &subject);
    let fate = fate(tool, &mut dice);
    let slowest = tool.shared.plan.tools.slowest_ms;
    work(tool, dice.below(slowest)).await;
    if fate != ExecutionFate::FailsInPassing {
        witness.fire(effect);
    }
    work(tool, dice.below(slowest)).await;
    let outcome = outcome(tool, fate, &subject, &mut dice).await;
    witness.end(line.effect, ExecutionEnd::Returned(outcome.clone()));
    outcome
}

async fn work(tool: &SimTool, ms: u64) {
    if ms > 0 {
        nap(ms).await;
    }
    tool.gate.pass(WorldAccess::Work).await;
}

fn fate(tool: &SimTool, dice: &mut SeededRng) -> ExecutionFate {
    if tool.shared.is_calm() || !dice.chance(tool.shared.plan.tools.failure_percent) {
        return ExecutionFate::Works;
    }
    dice.pick(&[
        ExecutionFate::FailsInPassing,
        ExecutionFate::FailsInPassing,
        ExecutionFate::FailsInPassing,
        ExecutionFate::Fails,
        ExecutionFate::Fails,
        ExecutionFate::Fatal,
        ExecutionFate::Panics,
        ExecutionFate::Hangs,
    ])
}

async fn outcome(
    tool: &SimTool,
    fate: ExecutionFate,
    subject: &str,
    dice: &mut SeededRng,
) -> ToolOutcome {
    let error = || ToolError::new("sim", subject, "try something else");
    match fate {
        ExecutionFate::Works => ToolOutcome::Done(content(subject, dice)),
        ExecutionFate::FailsInPassing => ToolOutcome::Failed(error().into_transient()),
        ExecutionFate::Fails => ToolOutcome::Failed(error()),
        ExecutionFate::Fatal => ToolOutcome::Failed(error().into_fatal()),
        // As `panic!`, without the message on the terminal.
        ExecutionFate::Panics => {
            std::panic::resume_unwind(Box::new(format!("{} broke", tool.name)))
        }
        ExecutionFate::Hangs => std::future::pending().await,
    }
}

/// Returns results of all sizes and scripts.
fn content(subject: &str, dice: &mut SeededRng) -> RawJson {
    let text = format!("done {subject}");
    match dice.below(6) {
        0 => RawJson::string(&format!("{text} שלום 🪝 {}", "x".repeat(500))),
        1 => RawJson::encode(&serde_json::json!([{ "type": "text", "text": text }])),
        2 => {
            RawJson::parse(format!("\"{text} \\ud83d\"")).unwrap_or_else(|_| RawJson::string(&text))
        }
        _ => RawJson::string(&text),
    }
}
