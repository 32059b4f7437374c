//! The judge: a model that reviews the answer last, in a side request. An unclear ruling marks the
//! answer as suspect, and the answer counts; the judge is never asked twice.

use super::answer_rejection::{reject_answer, truncate_sentence};
use super::budget;
use super::draft::DecisionDraft;
use super::finishing::{finish_unjudged, finish_with_answer, steer_or_finish};
use super::next_step::NextStep;
use super::stop_conditions::{must_end_now, should_continue_with_steers};
use crate::log::record::{Record, RejectionSource};
use crate::message::prompt_texts;
use crate::run::review::{Review, ReviewResult};
use crate::run::side_requests::{self, JudgeVerdict};
use crate::stop::StopCause;

/// Asks the judge after a review of the answer, unless something happened meanwhile that makes it
/// unnecessary. The time was checked.
pub(super) fn ask_judge_after_review(draft: &mut DecisionDraft<'_>, cause: StopCause) -> NextStep {
    if !draft.has_judge() || should_continue_with_steers(draft) {
        steer_or_finish(draft, cause)
    } else if must_end_now(draft) {
        finish_unjudged(draft, cause)
    } else {
        ask_judge(draft, cause)
    }
}

/// Asks the judge, if there is one; nothing else keeps the run from finishing. If the budget does
/// not cover the judge, the answer is marked suspect.
pub(super) fn ask_judge(draft: &mut DecisionDraft<'_>, cause: StopCause) -> NextStep {
    if !draft.has_judge() {
        return finish_with_answer(draft, cause);
    }
    match budget::judge_tokens(draft) {
        Some((max_tokens, reserved_tokens)) => {
            draft.request_review(Review::Judge { cause, max_tokens, reserved_tokens })
        }
        None => {
            mark_suspect(draft, prompt_texts::JUDGE_NOT_AFFORDABLE);
            finish_with_answer(draft, cause)
        }
    }
}

/// Handles the ruling of the judge, or its failure.
pub(super) fn on_judge_answered(
    draft: &mut DecisionDraft<'_>,
    cause: StopCause,
    result: &ReviewResult,
) -> NextStep {
    draft.check_time_limits();
    match result {
        ReviewResult::ModelText { text, .. } => match side_requests::parse_judge_verdict(text) {
            JudgeVerdict::Yes => steer_or_finish(draft, cause),
            JudgeVerdict::No { reason } => {
                reject_answer(draft, cause, RejectionSource::Judge, &reason)
            }
            JudgeVerdict::Unclear => {
                finish_doubted(draft, cause, prompt_texts::UNCLEAR_JUDGE_ANSWER)
            }
        },
        ReviewResult::Failed { why, .. } => {
            finish_doubted(draft, cause, &format!("the judge model failed: {why}"))
        }
        ReviewResult::Pass { .. } | ReviewResult::Block { .. } | ReviewResult::Stop { .. } => {
            finish_doubted(draft, cause, prompt_texts::UNCLEAR_JUDGE_ANSWER)
        }
    }
}

/// Finishes with a suspect answer. The mark of an answer that is not the last one is dropped with
/// it.
fn finish_doubted(draft: &mut DecisionDraft<'_>, cause: StopCause, reason: &str) -> NextStep {
    if !should_continue_with_steers(draft) {
        mark_suspect(draft, reason);
    }
    steer_or_finish(draft, cause)
}

fn mark_suspect(draft: &mut DecisionDraft<'_>, reason: &str) {
    draft.record(Record::AnswerMarkedSuspect { why: truncate_sentence(reason) });
}
