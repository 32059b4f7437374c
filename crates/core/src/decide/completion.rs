//! Completes an answer: structured output, checklist, hooks, gate command and judge, in this order;
//! then the run finishes.

use std::sync::Arc;

use super::answer_rejection::{reject_answer, truncate_sentence};
use super::draft::DecisionDraft;
use super::escalation;
use super::finishing::{
    finish_unjudged, finish_with_answer, finish_with_suspect_answer, finish_without_result,
    steer_or_finish,
};
use super::judge;
use super::next_step::NextStep;
use super::stop_conditions::{can_ask_model, must_end_now, should_continue_with_steers};
use super::structured_answer::lacks_structured_output;
use crate::log::record::{Record, RejectionSource, Transition};
use crate::message::prompt_texts;
use crate::run::question::SuspectAnswer;
use crate::run::review::{Review, ReviewResult};
use crate::settings::conversation_settings::{HookPresence, Settings};
use crate::stop::StopCause;

/// Handles a turn that the model ended, with its reply kept. A finished answer is never lost: it
/// comes before every other reason to stop. Only a new steering message, and a completion gate that
/// is not fulfilled, keep the run going.
pub(super) fn complete_answer(draft: &mut DecisionDraft<'_>, cause: StopCause) -> NextStep {
    let Some(settings) = draft.settings() else { return NextStep::Wait };
    draft.check_time_limits();
    if should_continue_with_steers(draft) {
        return NextStep::ask_model(Transition::Steer);
    }
    if must_end_now(draft) {
        return finish_with_answer(draft, cause);
    }
    if let Some(question) = escalation::required_question(draft) {
        return ask_in_place_of_model(draft, cause, &question);
    }
    match find_objection(draft, &settings) {
        Some((by, reason)) => reject_answer(draft, cause, by, &reason),
        None if needs_review(&settings) => draft.request_review(Review::Answer { cause }),
        None => judge::ask_judge(draft, cause),
    }
}

/// Asks the human in the model's place: the model was required to ask and answered instead. A
/// question whose answer the model can no longer be sent is not asked; then the answer counts and
/// is marked suspect.
fn ask_in_place_of_model(
    draft: &mut DecisionDraft<'_>,
    cause: StopCause,
    question: &str,
) -> NextStep {
    let reason = Arc::from(prompt_texts::ANSWERED_INSTEAD_OF_ASKING);
    // Text is not an answer where a structured answer is required.
    let wordy = draft.settings().is_some_and(|settings| lacks_structured_output(draft, &settings));
    match (can_ask_model(draft), wordy) {
        (false, true) => finish_without_result(draft, &[StopCause::StructuredOutputRetries]),
        (false, false) => finish_with_suspect_answer(draft, &SuspectAnswer { cause, reason }),
        (true, _) => {
            draft.add_note(prompt_texts::QUESTION_ASKED_FOR_MODEL);
            if wordy {
                return escalation::ask_human(draft, question);
            }
            escalation::ask_human_about_answer(draft, question, SuspectAnswer { cause, reason })
        }
    }
}

fn needs_review(settings: &Settings) -> bool {
    settings.hooks.answer == HookPresence::Present || settings.gate.command.is_some()
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

/// Handles the review of the answer by hooks and the gate command.
pub(super) fn on_answer_reviewed(
    draft: &mut DecisionDraft<'_>,
    cause: StopCause,
    result: &ReviewResult,
) -> NextStep {
    draft.check_time_limits();
    match result {
        ReviewResult::Block { reason } => {
            reject_answer(draft, cause, RejectionSource::Hook, reason)
        }
        ReviewResult::Failed { why, .. } => on_review_failed(draft, cause, why),
        ReviewResult::Pass { .. } | ReviewResult::ModelText { .. } => {
            judge::ask_judge_after_review(draft, cause)
        }
        ReviewResult::Stop { .. } if draft.has_judge() => finish_unjudged(draft, cause),
        ReviewResult::Stop { .. } => steer_or_finish(draft, cause),
    }
}

/// Handles a failed review. Failing hooks do not block; a failing gate command marks the answer
/// suspect. The judge is asked in any case.
fn on_review_failed(draft: &mut DecisionDraft<'_>, cause: StopCause, reason: &str) -> NextStep {
    let gated = draft.settings().is_some_and(|settings| settings.gate.command.is_some());
    if gated {
        draft.record(Record::AnswerMarkedSuspect { why: truncate_sentence(reason) });
    }
    judge::ask_judge_after_review(draft, cause)
}
