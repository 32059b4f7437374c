//! One execution of a tool: it starts, possibly changes the world, possibly returns.

use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;
use windlass_runtime::ports::CallContext;

use super::SimTool;
use crate::world::clock::sleep_virtual;
use crate::world::observation_log::{EffectId, ExecutionEnd, ObservationLog};
use crate::world::process_gate::WorldAccess;
use crate::world::seeded_rng::SeededRng;

/// The course of an execution.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ExecutionCourse {
    #[default]
    Works,
    FailsTransiently,
    Fails,
    Fatal,
    Panics,
    Hangs,
}

/// Closes the line in the ledger however the execution ends.
struct OpenExecution<'a> {
    observations: &'a ObservationLog,
    effect: EffectId,
}

impl Drop for OpenExecution<'_> {
    fn drop(&mut self) {
        let panicking = std::thread::panicking();
        let ending = if panicking { ExecutionEnd::Panicked } else { ExecutionEnd::Dropped };
        self.observations.end(self.effect, ending);
    }
}

pub(super) async fn execute(tool: &SimTool, context: CallContext, input: RawJson) -> ToolOutcome {
    let observations = &tool.shared.observations;
    let nth = observations.executions(&context.idempotency_key);
    let effect = observations.start(|tick| tool.effect(&context, input, tick));
    let line = OpenExecution { observations, effect };
    let subject = format!("{}:{}:{nth}", context.idempotency_key, context.attempt);
    let mut rng = SeededRng::about(tool.shared.plan.seed, &subject);
    let fate = fate(tool, &mut rng);
    let slowest = tool.shared.plan.tools.slowest_ms;
    work(tool, rng.below(slowest)).await;
    if fate != ExecutionCourse::FailsTransiently {
        observations.fire(effect);
    }
    work(tool, rng.below(slowest)).await;
    let outcome = outcome(tool, fate, &subject, &mut rng).await;
    observations.end(line.effect, ExecutionEnd::Returned(outcome.clone()));
    outcome
}

async fn work(tool: &SimTool, ms: u64) {
    if ms > 0 {
        sleep_virtual(ms).await;
    }
    tool.gate.pass(WorldAccess::Work).await;
}

fn fate(tool: &SimTool, rng: &mut SeededRng) -> ExecutionCourse {
    if tool.shared.is_calm() || !rng.chance(tool.shared.plan.tools.failure_percent) {
        return ExecutionCourse::Works;
    }
    rng.pick(&[
        ExecutionCourse::FailsTransiently,
        ExecutionCourse::FailsTransiently,
        ExecutionCourse::FailsTransiently,
        ExecutionCourse::Fails,
        ExecutionCourse::Fails,
        ExecutionCourse::Fatal,
        ExecutionCourse::Panics,
        ExecutionCourse::Hangs,
    ])
}

async fn outcome(
    tool: &SimTool,
    fate: ExecutionCourse,
    subject: &str,
    rng: &mut SeededRng,
) -> ToolOutcome {
    let error = || ToolError::new("sim", subject, "try something else");
    match fate {
        ExecutionCourse::Works => ToolOutcome::Done(content(subject, rng)),
        ExecutionCourse::FailsTransiently => ToolOutcome::Failed(error().into_transient()),
        ExecutionCourse::Fails => ToolOutcome::Failed(error()),
        ExecutionCourse::Fatal => ToolOutcome::Failed(error().into_fatal()),
        // As `panic!`, without the message on the terminal.
        ExecutionCourse::Panics => {
            std::panic::resume_unwind(Box::new(format!("{} broke", tool.name)))
        }
        ExecutionCourse::Hangs => std::future::pending().await,
    }
}

/// Returns results of all sizes and scripts.
fn content(subject: &str, rng: &mut SeededRng) -> RawJson {
    let text = format!("done {subject}");
    match rng.below(6) {
        0 => RawJson::string(&format!("{text} שלום 🪝 {}", "x".repeat(500))),
        1 => RawJson::encode(&serde_json::json!([{ "type": "text", "text": text }])),
        2 => {
            RawJson::parse(format!("\"{text} \\ud83d\"")).unwrap_or_else(|_| RawJson::string(&text))
        }
        _ => RawJson::string(&text),
    }
}
