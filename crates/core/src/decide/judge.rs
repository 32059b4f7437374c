//! The judge: a model that reviews the answer last, in a side request. An unclear ruling marks the
//! answer as suspect, and the answer counts; the judge is never asked twice.

use std::sync::Arc;

use super::budget;
use super::completion::{
    finish_with_answer, must_end_now, reject_answer, should_continue_with_steers, steer_or_finish,
    truncate_sentence,
};
use super::draft::DecisionDraft;
use super::reviews;
use super::time_limits;
use crate::log::record::{Record, RejectionSource};
use crate::message::prompt_texts;
use crate::run::review::{Review, ReviewResult};
use crate::run::side_requests::{self, JudgeVerdict};
use crate::stop::StopCause;

/// Returns whether the settings configure a judge model.
pub(super) fn has_judge(draft: &DecisionDraft<'_>) -> bool {
    draft.settings().is_some_and(|settings| settings.gate.judge.is_some())
}

/// Asks the judge after all other checks passed. If the budget does not cover it, the answer is
/// marked suspect.
pub(super) fn ask_judge(draft: &mut DecisionDraft<'_>, cause: StopCause) {
    time_limits::check_time_limits(draft);
    if !has_judge(draft) || should_continue_with_steers(draft) {
        return steer_or_finish(draft, cause);
    }
    if must_end_now(draft) {
        return finish_unjudged(draft, cause);
    }
    match budget::judge_tokens(draft) {
        Some((max_tokens, reserved_tokens)) => {
            reviews::request_review(draft, Review::Judge { cause, max_tokens, reserved_tokens });
        }
        None => finish_doubted(draft, cause, prompt_texts::JUDGE_NOT_AFFORDABLE),
    }
}

/// Handles the ruling of the judge, or its failure.
pub(super) fn on_judge_answered(
    draft: &mut DecisionDraft<'_>,
    cause: StopCause,
    advice: &ReviewResult,
) {
    time_limits::check_time_limits(draft);
    match advice {
        ReviewResult::ModelText { text, .. } => match side_requests::parse_judge_verdict(text) {
            JudgeVerdict::Yes => steer_or_finish(draft, cause),
            JudgeVerdict::No { reason } => {
                reject_answer(draft, cause, RejectionSource::Judge, &reason);
            }
            JudgeVerdict::Unclear => {
                finish_doubted(draft, cause, prompt_texts::UNCLEAR_JUDGE_ANSWER);
            }
        },
        ReviewResult::Failed { why, .. } => {
            finish_doubted(draft, cause, &format!("the judge did not answer: {why}"));
        }
        ReviewResult::Pass { .. } | ReviewResult::Block { .. } | ReviewResult::Stop { .. } => {
            finish_doubted(draft, cause, prompt_texts::UNCLEAR_JUDGE_ANSWER);
        }
    }
}

/// Finishes the run before the judge has answered: the answer is kept and marked suspect.
pub(super) fn finish_unjudged(draft: &mut DecisionDraft<'_>, cause: StopCause) {
    draft.record(Record::AnswerMarkedSuspect { why: Arc::from(prompt_texts::NOT_JUDGED) });
    finish_with_answer(draft, cause);
}

/// Finishes with a suspect answer. The mark of an answer that is not the last one is dropped with
/// it.
fn finish_doubted(draft: &mut DecisionDraft<'_>, cause: StopCause, why: &str) {
    if !should_continue_with_steers(draft) {
        draft.record(Record::AnswerMarkedSuspect { why: truncate_sentence(why) });
    }
    steer_or_finish(draft, cause);
}
