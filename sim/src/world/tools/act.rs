//! One execution: it starts, perhaps it changes the world, perhaps it comes back.

use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_runtime::ports::CallContext;

use super::SimTool;
use crate::world::clock::nap;
use crate::world::dice::Dice;
use crate::world::gate::Door;
use crate::world::witness::{EffectId, Ending, Witness};

/// How an execution goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Fate {
    #[default]
    Works,
    FailsInPassing,
    Fails,
    Fatal,
    Panics,
    Hangs,
}

/// Closes the ledger's line however the execution ends.
struct Line<'a> {
    witness: &'a Witness,
    effect: EffectId,
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        let panicking = std::thread::panicking();
        let ending = if panicking { Ending::Panicked } else { Ending::Dropped };
        self.witness.end(self.effect, ending);
    }
}

pub(super) async fn execute(tool: &SimTool, context: CallContext, input: Raw) -> Outcome {
    let witness = &tool.shared.witness;
    let nth = witness.executions(&context.idempotency_key);
    let effect = witness.start(|tick| tool.effect(&context, input, tick));
    let line = Line { witness, effect };
    let subject = format!("{}:{}:{nth}", context.idempotency_key, context.attempt);
    let mut dice = Dice::about(tool.shared.plan.seed, &subject);
    let fate = fate(tool, &mut dice);
    let slowest = tool.shared.plan.tools.slowest_ms;
    work(tool, dice.below(slowest)).await;
    if fate != Fate::FailsInPassing {
        witness.fire(effect);
    }
    work(tool, dice.below(slowest)).await;
    let outcome = outcome(tool, fate, &subject, &mut dice).await;
    witness.end(line.effect, Ending::Returned(outcome.clone()));
    outcome
}

async fn work(tool: &SimTool, ms: u64) {
    if ms > 0 {
        nap(ms).await;
    }
    tool.gate.pass(Door::Work).await;
}

fn fate(tool: &SimTool, dice: &mut Dice) -> Fate {
    if tool.shared.is_calm() || !dice.chance(tool.shared.plan.tools.failure_percent) {
        return Fate::Works;
    }
    dice.pick(&[
        Fate::FailsInPassing,
        Fate::FailsInPassing,
        Fate::FailsInPassing,
        Fate::Fails,
        Fate::Fails,
        Fate::Fatal,
        Fate::Panics,
        Fate::Hangs,
    ])
}

async fn outcome(tool: &SimTool, fate: Fate, subject: &str, dice: &mut Dice) -> Outcome {
    let error = || ToolError::new("sim", subject, "try something else");
    match fate {
        Fate::Works => Outcome::Done(content(subject, dice)),
        Fate::FailsInPassing => Outcome::Failed(error().passing()),
        Fate::Fails => Outcome::Failed(error()),
        Fate::Fatal => Outcome::Failed(error().fatal()),
        // As `panic!`, without the message on the terminal.
        Fate::Panics => std::panic::resume_unwind(Box::new(format!("{} broke", tool.name))),
        Fate::Hangs => std::future::pending().await,
    }
}

/// Results of all sizes and scripts.
fn content(subject: &str, dice: &mut Dice) -> Raw {
    let text = format!("done {subject}");
    match dice.below(6) {
        0 => Raw::string(&format!("{text} שלום 🪝 {}", "x".repeat(500))),
        1 => Raw::encode(&serde_json::json!([{ "type": "text", "text": text }])),
        2 => Raw::parse(format!("\"{text} \\ud83d\"")).unwrap_or_else(|_| Raw::string(&text)),
        _ => Raw::string(&text),
    }
}
