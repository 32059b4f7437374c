//! Completes an answer: structured output, checklist, hooks, gate command and judge, in this order;
//! then the run finishes.

use std::sync::Arc;

use super::draft::DecisionDraft;
use super::escalation;
use super::guardrail;
use super::iteration::{self, finish_run, finish_without_result};
use super::judge;
use super::reviews;
use super::time_limits;
use crate::call::call_state::{Call, CallState};
use crate::call::outcome::OutcomeKind;
use crate::guard::loop_detection::EscalationLevel;
use crate::log::ids::CallId;
use crate::log::record::{Record, RejectionSource, Transition};
use crate::message::prompt_texts;
use crate::message::reply::ModelReply;
use crate::message::truncate;
use crate::run::active_run::Round;
use crate::run::question::SuspectAnswer;
use crate::run::review::{Review, ReviewResult};
use crate::settings::conversation_settings::{HookPresence, Settings};
use crate::stop::{ReplyAnomaly, StopCause};

/// Handles a turn that the model ended, with its reply kept. A finished answer is never lost: it
/// comes before every other reason to stop. Only a new steering message, and a completion gate that
/// is not fulfilled, keep the run going.
pub(super) fn complete_answer(draft: &mut DecisionDraft<'_>, cause: StopCause) {
    let Some(settings) = draft.settings() else { return };
    time_limits::check_time_limits(draft);
    if should_continue_with_steers(draft) {
        return iteration::ask_model(draft, Transition::Steer);
    }
    if must_end_now(draft) {
        return finish_with_answer(draft, cause);
    }
    if let Some(question) = escalation::required_question(draft) {
        return ask_in_place_of_model(draft, cause, &question);
    }
    match find_objection(draft, &settings) {
        Some((by, reason)) => reject_answer(draft, cause, by, &reason),
        None if needs_review(&settings) => reviews::request_review(draft, Review::Answer { cause }),
        None => judge::ask_judge(draft, cause),
    }
}

/// Asks the human in the model's place: the model was required to ask and answered instead. A
/// question whose answer the model can no longer be sent is not asked; then the answer counts and
/// is marked suspect.
fn ask_in_place_of_model(draft: &mut DecisionDraft<'_>, cause: StopCause, question: &str) {
    let reason = Arc::from(prompt_texts::ANSWERED_INSTEAD_OF_ASKING);
    // Text is not an answer where a structured answer is required.
    let wordy = draft.settings().is_some_and(|settings| lacks_structured_output(draft, &settings));
    if !iteration::can_ask_model(draft) {
        return match wordy {
            true => finish_without_result(draft, &[StopCause::StructuredOutputRetries]),
            false => finish_with_suspect_answer(draft, &SuspectAnswer { cause, reason }),
        };
    }
    reviews::add_note(draft, prompt_texts::QUESTION_ASKED_FOR_MODEL);
    if wordy {
        return escalation::ask_human(draft, question);
    }
    escalation::ask_human_about_answer(draft, question, SuspectAnswer { cause, reason });
}

fn has_pending_steers(draft: &DecisionDraft<'_>) -> bool {
    draft.run().is_some_and(|run| !run.steers.is_empty())
}

/// Returns whether steering messages arrived that the model can still be called with: then the
/// answer is not the last.
pub(super) fn should_continue_with_steers(draft: &DecisionDraft<'_>) -> bool {
    has_pending_steers(draft) && iteration::can_ask_model(draft)
}

/// Returns whether nothing may delay the end: a stop was requested, a time limit was reached, or
/// the run waits for approval to continue, which an answer does not need.
pub(super) fn must_end_now(draft: &DecisionDraft<'_>) -> bool {
    draft.run().is_some_and(|run| {
        run.stop_request.is_some()
            || run.reached_time_limit.is_some()
            || run.human_pause().is_some()
    })
}

fn needs_review(settings: &Settings) -> bool {
    settings.hooks.answer == HookPresence::Present || settings.gate.command.is_some()
}

fn lacks_structured_output(draft: &DecisionDraft<'_>, settings: &Settings) -> bool {
    settings.output.is_some() && draft.run().is_some_and(|run| run.structured_output.is_none())
}

/// Returns what the core itself objects to in the answer.
fn find_objection(
    draft: &DecisionDraft<'_>,
    settings: &Settings,
) -> Option<(RejectionSource, String)> {
    let run = draft.run()?;
    if let Some(output) =
        settings.output.as_ref().filter(|_| lacks_structured_output(draft, settings))
    {
        return Some((RejectionSource::Schema, prompt_texts::use_output_tool(&output.tool)));
    }
    settings
        .gate
        .missing_items(&run.checklist_progress)
        .map(|missing| (RejectionSource::Checklist, missing))
}

/// Sends the answer back with the reason, a bounded number of times; then a human is asked. If no
/// human is available the answer counts and is marked suspect.
pub(super) fn reject_answer(
    draft: &mut DecisionDraft<'_>,
    cause: StopCause,
    by: RejectionSource,
    reason: &str,
) {
    let reason = truncate_sentence(reason);
    let level = guardrail::next_level(draft, by);
    let over = must_end_now(draft) || !iteration::can_ask_model(draft);
    if over || (level == EscalationLevel::Human && !escalation::is_human_available(draft)) {
        return accept_with_doubt(draft, cause, by, reason);
    }
    guardrail::record_rejection(draft, by, &reason, level);
    match (level, by) {
        (EscalationLevel::Human, RejectionSource::Schema) => {
            guardrail::escalate_to_human(draft, by, &reason);
        }
        (EscalationLevel::Human, _) => {
            let question = guardrail::question_text(draft, by, &reason);
            escalation::ask_human_about_answer(draft, &question, SuspectAnswer { cause, reason });
        }
        (_, RejectionSource::Schema) => {
            let tool = draft.settings().and_then(|own| own.output.clone()).map(|out| out.tool);
            iteration::ask_model_forcing_tool(draft, Transition::Rejected, tool);
        }
        (_, _) => iteration::ask_model(draft, Transition::Rejected),
    }
}

/// Accepts an answer as suspect: it was rejected too often, or no further model call is possible.
fn accept_with_doubt(
    draft: &mut DecisionDraft<'_>,
    cause: StopCause,
    by: RejectionSource,
    reason: Arc<str>,
) {
    if by == RejectionSource::Schema {
        return finish_without_result(draft, &[StopCause::StructuredOutputRetries]);
    }
    draft.record(Record::AnswerMarkedSuspect { why: reason });
    finish_with_answer(draft, cause);
}

/// Finishes with the suspect answer when a human stops the run, or it is cancelled, during the
/// question about its answer.
pub(super) fn finish_with_suspect_answer(draft: &mut DecisionDraft<'_>, kept: &SuspectAnswer) {
    draft.record(Record::AnswerMarkedSuspect { why: kept.reason.clone() });
    finish_with_answer(draft, kept.cause);
}

/// Handles the review of the answer by hooks and the gate command.
pub(super) fn on_answer_reviewed(
    draft: &mut DecisionDraft<'_>,
    cause: StopCause,
    advice: &ReviewResult,
) {
    time_limits::check_time_limits(draft);
    match advice {
        ReviewResult::Block { reason } => {
            reject_answer(draft, cause, RejectionSource::Hook, reason);
        }
        ReviewResult::Failed { why, .. } => on_review_failed(draft, cause, why),
        ReviewResult::Pass { .. } | ReviewResult::ModelText { .. } => {
            judge::ask_judge(draft, cause);
        }
        ReviewResult::Stop { .. } if judge::has_judge(draft) => {
            judge::finish_unjudged(draft, cause);
        }
        ReviewResult::Stop { .. } => steer_or_finish(draft, cause),
    }
}

/// Handles a failed review. Failing hooks do not block; a failing gate command marks the answer
/// suspect. The judge is asked in any case.
fn on_review_failed(draft: &mut DecisionDraft<'_>, cause: StopCause, why: &str) {
    let gated = draft.settings().is_some_and(|settings| settings.gate.command.is_some());
    if gated {
        draft.record(Record::AnswerMarkedSuspect { why: truncate_sentence(why) });
    }
    judge::ask_judge(draft, cause);
}

/// Finishes the run with its answer when a stop is requested during the review.
pub(super) fn finish_during_review(draft: &mut DecisionDraft<'_>, about: &Review) -> bool {
    match about {
        Review::Answer { cause } if !judge::has_judge(draft) => finish_with_answer(draft, *cause),
        Review::Answer { cause } | Review::Judge { cause, .. } => {
            judge::finish_unjudged(draft, *cause);
        }
        Review::Prompt {}
        | Review::Pruning { .. }
        | Review::Compaction { .. }
        | Review::Summary { .. } => return false,
    }
    true
}

pub(super) fn steer_or_finish(draft: &mut DecisionDraft<'_>, cause: StopCause) {
    if should_continue_with_steers(draft) {
        iteration::ask_model(draft, Transition::Steer);
    } else {
        finish_with_answer(draft, cause);
    }
}

/// Truncates the text of a hook or a judge to a sentence.
pub(super) fn truncate_sentence(text: &str) -> Arc<str> {
    Arc::from(truncate::truncate_text(text, truncate::MAX_SENTENCE_CHARS).as_ref())
}

/// An answer that was given by a call of the output tool.
#[derive(Clone, Copy)]
pub(super) enum StructuredAnswer {
    /// The answer matches its schema.
    Valid(CallId),
    /// The answer does not match its schema.
    Invalid,
}

/// Returns the answer that a round gave through the output tool, if it gave one. A call that was
/// denied gives none.
pub(super) fn structured_answer_of(
    draft: &DecisionDraft<'_>,
    round: &Round,
) -> Option<StructuredAnswer> {
    let output = draft.settings()?.output.clone()?;
    let calls = || round.calls.iter().filter(|call| call.tool_use.name == output.tool);
    let fitting =
        calls().rfind(|call| call.has_succeeded()).map(|call| StructuredAnswer::Valid(call.id));
    let failed = |call: &Call| matches!(&call.state, CallState::Finished(shown) if shown.kind == OutcomeKind::Failed);
    fitting.or_else(|| calls().any(failed).then_some(StructuredAnswer::Invalid))
}

/// Returns whether this reply gives the answer through the output tool.
pub(super) fn gives_structured_answer(draft: &DecisionDraft<'_>, reply: &ModelReply) -> bool {
    let output = draft.settings().and_then(|settings| settings.output.clone());
    output.is_some_and(|output| reply.tool_uses().any(|(_, call)| call.name == output.tool))
}

/// Returns whether an answer that did not match its schema may be given again. If not, a human is
/// asked, or the run ends.
pub(super) fn retry_structured_answer(draft: &mut DecisionDraft<'_>) -> bool {
    let (by, reason) = (RejectionSource::Schema, "the answer does not fit its schema");
    match guardrail::next_level(draft, by) {
        EscalationLevel::Human if escalation::is_human_available(draft) && !must_end_now(draft) => {
            guardrail::record_rejection(draft, by, reason, EscalationLevel::Human);
            guardrail::escalate_to_human(draft, by, reason);
            false
        }
        EscalationLevel::Human => {
            finish_without_result(draft, &[StopCause::StructuredOutputRetries]);
            false
        }
        level @ (EscalationLevel::Calm | EscalationLevel::Nudge | EscalationLevel::Directive) => {
            let reason = Arc::from(reason);
            draft.record(Record::AnswerRejected { by, reason, level });
            true
        }
    }
}

/// Finishes the run with its answer.
pub(super) fn finish_with_answer(draft: &mut DecisionDraft<'_>, cause: StopCause) {
    let Some(run) = draft.run() else { return };
    let text = run.answer_text();
    let said = match (text.trim().is_empty(), cause) {
        (false, _) => run.structured_output.as_ref().map(|given| Arc::from(given.text())),
        (true, StopCause::Unexpected) => Some(Arc::from("")),
        (true, StopCause::SoftTime) => Some(Arc::from(prompt_texts::NO_WRAP_UP)),
        (true, _) => Some(Arc::from(prompt_texts::EMPTY_ANSWER)),
    };
    if text.trim().is_empty() && cause != StopCause::SoftTime {
        draft.record(Record::AnomalyDetected { what: ReplyAnomaly::EmptyAnswer });
    }
    let causes = with_other_causes(draft, cause);
    finish_run(draft, &causes, said);
}

/// Returns what ended the run, and what else would have ended it.
pub(super) fn with_other_causes(draft: &DecisionDraft<'_>, cause: StopCause) -> Vec<StopCause> {
    let others =
        iteration::causes_against_tools(draft).into_iter().filter(|also| applies_to_answer(*also));
    std::iter::once(cause).chain(others).collect()
}

/// Returns whether a stop cause applies to an answer: limits on tools do not apply to an answer
/// without calls.
fn applies_to_answer(also: StopCause) -> bool {
    also != StopCause::MaxToolRounds
}
