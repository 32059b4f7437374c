//! A pending review that is abandoned: by a stop, a time limit or an owner change.

use super::draft::DecisionDraft;
use super::finishing::{finish_unjudged, finish_with_answer, finish_without_result};
use super::next_step::NextStep;
use crate::log::record::Record;
use crate::run::review::Review;
use crate::stop::StopCause;

/// Abandons the pending review: a summary that was being written is charged in full.
pub(super) fn abandon_review(draft: &mut DecisionDraft<'_>) -> Option<Review> {
    let (id, review) = draft.pending_review()?;
    draft.record(Record::ReviewCompleted { id, charged: review.full_usage() });
    Some(review)
}

/// Stops a run during a review. A complete answer is never lost.
pub(super) fn stop_during_review(draft: &mut DecisionDraft<'_>, cause: StopCause) -> NextStep {
    let Some(review) = abandon_review(draft) else { return NextStep::Wait };
    finish_during_review(draft, &review).unwrap_or_else(|| finish_without_result(draft, &[cause]))
}

/// Finishes the run with its answer, if the abandoned review was about an answer.
pub(super) fn finish_during_review(
    draft: &mut DecisionDraft<'_>,
    about: &Review,
) -> Option<NextStep> {
    match about {
        Review::Answer { cause } if !draft.has_judge() => Some(finish_with_answer(draft, *cause)),
        Review::Answer { cause } | Review::Judge { cause, .. } => {
            Some(finish_unjudged(draft, *cause))
        }
        Review::Prompt {}
        | Review::Pruning { .. }
        | Review::Compaction { .. }
        | Review::Summary { .. } => None,
    }
}
