//! Renders a plan in the script language of the scripted model.
//!
//! Rules match by the number of the reply, which the conversation itself contains, so a process
//! that takes over gets the same replies as the one before.

use std::path::Path;

use serde_json::json;

use crate::plan::conversation_plan::{
    ConversationPlan, EffectTool, PlanStep, PlannedCall, PlannedEffect,
};
use crate::plan::mcp_ledger;
use crate::plan::seeded_random::SeededRandom;

/// A transient failure of a model call of this process. Its backoff takes a second, so it is rare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransientFailure {
    /// The reply before which the call fails.
    pub(crate) step: u64,
    /// The kind of the failure.
    pub(crate) how: FailureKind,
}

/// The kind of a transient failure of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The provider is overloaded.
    Overloaded,
    /// The stream is cut in the middle of a sentence.
    StreamCut,
}

impl TransientFailure {
    /// Perhaps generates a failure, somewhere in the plan.
    pub(crate) fn generate(plan: &ConversationPlan, random: &mut SeededRandom) -> Option<Self> {
        if !random.chance(4) {
            return None;
        }
        let how = if random.chance(50) { FailureKind::Overloaded } else { FailureKind::StreamCut };
        Some(Self { step: random.between(1, plan.steps.len() as u64), how })
    }
}

/// The script of a plan whose effects are written to `ledger`.
pub(crate) fn render(
    plan: &ConversationPlan,
    ledger: &Path,
    stumble: Option<TransientFailure>,
) -> String {
    let mut script = stumble.map(failing_rule).unwrap_or_default();
    for (number, step) in (1_u64..).zip(&plan.steps) {
        script.push_str(&format!("when ask {number}\n  delay 2ms\n{}", step_body(step, ledger)));
    }
    script.push_str(&format!("when any\n  say \"done {}\"\n", plan.conversation));
    script
}

fn failing_rule(TransientFailure { step, how }: TransientFailure) -> String {
    let what = match how {
        FailureKind::Overloaded => "  fail 529\n",
        FailureKind::StreamCut => "  say \"This sentence never comes to its\"\n  cut inside\n",
    };
    format!("when ask {step}\n  once\n{what}")
}

fn step_body(step: &PlanStep, ledger: &Path) -> String {
    match step {
        PlanStep::Calls(calls) => calls.iter().map(|call| call_line(call, ledger)).collect(),
        PlanStep::CutText => "  say \"This text goes on\"\n  stop max_tokens\n".to_owned(),
        PlanStep::CutCall => {
            "  say \"Now a call.\"\n  truncate call Bash {\"command\": \"ls\n".to_owned()
        }
    }
}

fn call_line(call: &PlannedCall, ledger: &Path) -> String {
    match call {
        PlannedCall::Read { file } => {
            format!(
                "  call Read {}\n",
                json!({ "file_path": crate::work_folder::note_name(*file) })
            )
        }
        PlannedCall::Effect(effect) => match effect.tool {
            EffectTool::Bash => {
                format!("  call Bash {}\n", json!({ "command": effect_command(effect, ledger) }))
            }
            EffectTool::Mcp => {
                format!("  call {} {}\n", mcp_ledger::TOOL, mcp_ledger::input(effect))
            }
        },
    }
}

/// The command of an effect. It writes one short line at once: the ledger has no partial lines.
fn effect_command(effect: &PlannedEffect, ledger: &Path) -> String {
    let append = format!("printf '%s\\n' '{}' >> '{}'", effect.line, ledger.display());
    let before = (effect.before_ms > 0).then(|| sleep_command(effect.before_ms));
    let after = (effect.after_ms > 0).then(|| sleep_command(effect.after_ms));
    let parts: Vec<String> = before.into_iter().chain([append]).chain(after).collect();
    parts.join("; ")
}

fn sleep_command(ms: u64) -> String {
    format!("sleep 0.{ms:03}")
}
