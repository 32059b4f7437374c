//! Rejected answers: sent back with the reason a bounded number of times, then a human is asked. If
//! no human is available the answer counts and is marked suspect.

use std::sync::Arc;

use super::draft::DecisionDraft;
use super::escalation;
use super::finishing::{finish_with_answer, finish_without_result};
use super::guardrail;
use super::next_step::{AskKind, NextStep};
use super::stop_conditions::{can_ask_model, must_end_now};
use crate::guard::loop_detection::EscalationLevel;
use crate::log::record::{Record, RejectionSource, Transition};
use crate::message::truncate;
use crate::run::question::SuspectAnswer;
use crate::stop::StopCause;

/// Rejects an answer, or accepts it as suspect if it cannot be sent back.
pub(super) fn reject_answer(
    draft: &mut DecisionDraft<'_>,
    cause: StopCause,
    by: RejectionSource,
    reason: &str,
) -> NextStep {
    let reason = truncate_sentence(reason);
    let level = guardrail::next_level(draft, by);
    let over = must_end_now(draft) || !can_ask_model(draft);
    if over || (level == EscalationLevel::Human && !draft.is_human_available()) {
        return accept_with_doubt(draft, cause, by, reason);
    }
    guardrail::record_rejection(draft, by, &reason, level);
    match (level, by) {
        (EscalationLevel::Human, RejectionSource::Schema) => {
            guardrail::escalate_to_human(draft, by, &reason)
        }
        (EscalationLevel::Human, _) => {
            let question = guardrail::question_text(draft, by, &reason);
            escalation::ask_human_about_answer(draft, &question, SuspectAnswer { cause, reason })
        }
        (_, RejectionSource::Schema) => {
            let tool = draft.settings().and_then(|own| own.output.clone()).map(|out| out.tool);
            let kind = tool.map_or(AskKind::Regular, AskKind::ForcingTool);
            NextStep::ask_model_as(Transition::Rejected, kind)
        }
        (_, _) => NextStep::ask_model(Transition::Rejected),
    }
}

/// Accepts an answer as suspect: it was rejected too often, or no further model call is possible.
fn accept_with_doubt(
    draft: &mut DecisionDraft<'_>,
    cause: StopCause,
    by: RejectionSource,
    reason: Arc<str>,
) -> NextStep {
    if by == RejectionSource::Schema {
        return finish_without_result(draft, &[StopCause::StructuredOutputRetries]);
    }
    draft.record(Record::AnswerMarkedSuspect { why: reason });
    finish_with_answer(draft, cause)
}

/// Rejects a structured answer that does not match its schema. Returns what follows if the answer
/// may not be given again: a question to a human, or the end of the run.
pub(super) fn reject_structured_answer(draft: &mut DecisionDraft<'_>) -> Option<NextStep> {
    let (by, reason) = (RejectionSource::Schema, "the answer does not match its schema");
    match guardrail::next_level(draft, by) {
        EscalationLevel::Human if draft.is_human_available() && !must_end_now(draft) => {
            guardrail::record_rejection(draft, by, reason, EscalationLevel::Human);
            Some(guardrail::escalate_to_human(draft, by, reason))
        }
        EscalationLevel::Human => {
            Some(finish_without_result(draft, &[StopCause::StructuredOutputRetries]))
        }
        level @ (EscalationLevel::Calm | EscalationLevel::Nudge | EscalationLevel::Directive) => {
            let reason = Arc::from(reason);
            draft.record(Record::AnswerRejected { by, reason, level });
            None
        }
    }
}

/// Truncates the text of a hook or a judge to a sentence.
pub(super) fn truncate_sentence(text: &str) -> Arc<str> {
    Arc::from(truncate::truncate_text(text, truncate::MAX_SENTENCE_CHARS).as_ref())
}
