//! Guardrails: completion gate, answer schema, roleplay drift. They escalate in steps: hint,
//! directive, question to a human.

use std::sync::Arc;

use super::draft::DecisionDraft;
use super::escalation;
use super::next_step::NextStep;
use crate::guard::loop_detection::EscalationLevel;
use crate::log::record::{Record, RejectionSource};
use crate::message::prompt_texts;

/// Returns the escalation level of one more rejection: the first is a hint, the others up to the
/// last allowed one are directives, and then a human is asked.
pub(super) fn next_level(draft: &DecisionDraft<'_>, by: RejectionSource) -> EscalationLevel {
    let (used, limit) = attempts_used(draft, by);
    if used >= limit {
        EscalationLevel::Human
    } else if used == 0 {
        EscalationLevel::Nudge
    } else {
        EscalationLevel::Directive
    }
}

fn attempts_used(draft: &DecisionDraft<'_>, by: RejectionSource) -> (u32, u32) {
    let limits = draft.limits();
    let Some(run) = draft.run() else { return (0, 0) };
    match by {
        RejectionSource::Schema => (run.counters.output_retries, limits.output_retries),
        RejectionSource::Drift => (run.counters.reprompts, limits.reprompts),
        RejectionSource::Checklist | RejectionSource::Hook | RejectionSource::Judge => {
            (run.counters.rejections, limits.rejections)
        }
    }
}

/// Records a rejection and tells the model why, from the second time on as a directive.
pub(super) fn record_rejection(
    draft: &mut DecisionDraft<'_>,
    by: RejectionSource,
    reason: &str,
    level: EscalationLevel,
) {
    draft.record(Record::AnswerRejected { by, reason: Arc::from(reason), level });
    let text = match by {
        RejectionSource::Drift => prompt_texts::REPROMPT,
        RejectionSource::Checklist
        | RejectionSource::Hook
        | RejectionSource::Judge
        | RejectionSource::Schema => reason,
    };
    match level {
        EscalationLevel::Calm | EscalationLevel::Nudge => draft.add_note(text),
        EscalationLevel::Directive | EscalationLevel::Human => {
            draft.add_note(&prompt_texts::repeat_rejection(text));
        }
    }
}

/// Asks a human how to continue.
pub(super) fn escalate_to_human(
    draft: &mut DecisionDraft<'_>,
    by: RejectionSource,
    reason: &str,
) -> NextStep {
    let question = question_text(draft, by, reason);
    escalation::ask_human(draft, &question)
}

/// Returns the question to the human.
pub(super) fn question_text(
    draft: &DecisionDraft<'_>,
    by: RejectionSource,
    reason: &str,
) -> String {
    let (times, _) = attempts_used(draft, by);
    match by {
        RejectionSource::Drift => prompt_texts::drift_question(times),
        RejectionSource::Schema => prompt_texts::schema_question(times),
        RejectionSource::Checklist | RejectionSource::Hook | RejectionSource::Judge => {
            prompt_texts::gate_question(times, reason)
        }
    }
}
