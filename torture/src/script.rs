//! A plan in the script language of the offline model.
//!
//! Rules choose by the number of the reply, which the conversation itself holds, so a process that
//! takes over answers as the one before would have.

use std::path::Path;

use serde_json::json;

use crate::dice::Dice;
use crate::plan::{Call, Effect, Plan, Step};

/// A model call of this process that fails in passing. Its pause is a second, so it is rare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stumble {
    /// Before which reply.
    pub(crate) step: u64,
    /// How.
    pub(crate) how: How,
}

/// How a model call fails in passing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// The provider is overloaded.
    Refused,
    /// The stream breaks off in the middle of a sentence.
    Cut,
}

impl Stumble {
    /// Perhaps one, somewhere in the plan.
    pub(crate) fn draw(plan: &Plan, dice: &mut Dice) -> Option<Self> {
        if !dice.happens(4) {
            return None;
        }
        let how = if dice.happens(50) { How::Refused } else { How::Cut };
        Some(Self { step: dice.between(1, plan.steps.len() as u64), how })
    }
}

/// The script of a plan whose effects go to `ledger`.
pub(crate) fn render(plan: &Plan, ledger: &Path, stumble: Option<Stumble>) -> String {
    let mut script = stumble.map(failing).unwrap_or_default();
    for (number, step) in (1_u64..).zip(&plan.steps) {
        script.push_str(&format!("when ask {number}\n  delay 2ms\n{}", body(step, ledger)));
    }
    script.push_str(&format!("when any\n  say \"done {}\"\n", plan.conversation));
    script
}

fn failing(Stumble { step, how }: Stumble) -> String {
    let what = match how {
        How::Refused => "  fail 529\n",
        How::Cut => "  say \"This sentence never comes to its\"\n  cut inside\n",
    };
    format!("when ask {step}\n  once\n{what}")
}

fn body(step: &Step, ledger: &Path) -> String {
    match step {
        Step::Calls(calls) => calls.iter().map(|call| line(call, ledger)).collect(),
        Step::CutText => "  say \"This text goes on\"\n  stop max_tokens\n".to_owned(),
        Step::CutCall => {
            "  say \"Now a call.\"\n  truncate call Bash {\"command\": \"ls\n".to_owned()
        }
    }
}

fn line(call: &Call, ledger: &Path) -> String {
    match call {
        Call::Read { file } => {
            format!("  call Read {}\n", json!({ "file_path": crate::ground::note(*file) }))
        }
        Call::Effect(effect) => {
            format!("  call Bash {}\n", json!({ "command": command(effect, ledger) }))
        }
    }
}

/// One short line in one write: the ledger is never torn.
fn command(effect: &Effect, ledger: &Path) -> String {
    let append = format!("printf '%s\\n' '{}' >> '{}'", effect.line, ledger.display());
    let before = (effect.before_ms > 0).then(|| sleep(effect.before_ms));
    let after = (effect.after_ms > 0).then(|| sleep(effect.after_ms));
    let parts: Vec<String> = before.into_iter().chain([append]).chain(after).collect();
    parts.join("; ")
}

fn sleep(ms: u64) -> String {
    format!("sleep 0.{ms:03}")
}
