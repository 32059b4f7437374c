//! Reviews: hooks, judge and summariser that a run waits for, and what follows from their result.

use super::compaction;
use super::completion;
use super::draft::DecisionDraft;
use super::finishing::{finish_run, finish_without_result};
use super::interrupted_review::abandon_review;
use super::judge;
use super::next_step::NextStep;
use crate::log::record::{Record, Transition};
use crate::run::review::{PlannedCompaction, PruneGoal, Review, ReviewId, ReviewResult};
use crate::stop::StopCause;

/// Handles the result of the pending review.
pub(super) fn on_review_returned(
    draft: &mut DecisionDraft<'_>,
    id: ReviewId,
    result: &ReviewResult,
) -> NextStep {
    let Some((id, review)) = draft.pending_review().filter(|(sought, _)| *sought == id) else {
        return NextStep::Wait;
    };
    let charged = match result {
        ReviewResult::ModelText { usage, .. } | ReviewResult::Failed { usage, .. } => Some(*usage),
        ReviewResult::Pass { .. } | ReviewResult::Block { .. } | ReviewResult::Stop { .. } => None,
    };
    draft.record(Record::ReviewCompleted { id, charged });
    match review {
        Review::Prompt {} => on_prompt_reviewed(draft, result),
        Review::Answer { cause } => completion::on_answer_reviewed(draft, cause, result),
        Review::Judge { cause, .. } => judge::on_judge_answered(draft, cause, result),
        Review::Pruning { goal, next_transition } => {
            on_pruning_reviewed(draft, goal, next_transition, result)
        }
        Review::Compaction { compaction } => on_compaction_reviewed(draft, compaction, result),
        Review::Summary { compaction, .. } => {
            compaction::record_compaction(draft, &compaction, summary_text(result))
        }
    }
}

fn summary_text(result: &ReviewResult) -> Option<&str> {
    match result {
        ReviewResult::ModelText { text, .. } => Some(text),
        ReviewResult::Pass { .. }
        | ReviewResult::Block { .. }
        | ReviewResult::Stop { .. }
        | ReviewResult::Failed { .. } => None,
    }
}

/// Handles the review of a prompt. A prompt hook that fails does not block the prompt; one that
/// denies does.
fn on_prompt_reviewed(draft: &mut DecisionDraft<'_>, result: &ReviewResult) -> NextStep {
    match result {
        ReviewResult::Block { reason } | ReviewResult::Stop { reason } => {
            draft.record(Record::PromptWithdrawn {});
            finish_run(draft, &[StopCause::HookStopped], Some(reason.clone()))
        }
        ReviewResult::Pass { context: Some(context) } => {
            draft.record(Record::NoteAdded { text: context.clone() });
            NextStep::ask_model(Transition::Prompt)
        }
        ReviewResult::Pass { context: None }
        | ReviewResult::ModelText { .. }
        | ReviewResult::Failed { .. } => NextStep::ask_model(Transition::Prompt),
    }
}

/// Handles the review of a compaction. A hook may postpone a compaction; that uses up a recovery
/// step, so it cannot do so for ever.
fn on_compaction_reviewed(
    draft: &mut DecisionDraft<'_>,
    cut: PlannedCompaction,
    result: &ReviewResult,
) -> NextStep {
    match result {
        ReviewResult::Stop { .. } => finish_without_result(draft, &[StopCause::HookStopped]),
        // Nothing else is left to do in a run that only compacts.
        ReviewResult::Block { reason } if draft.run().is_some_and(|run| run.only_compacts) => {
            finish_run(draft, &[StopCause::HookStopped], Some(reason.clone()))
        }
        ReviewResult::Block { .. } => compaction::postpone_compaction(draft, &cut),
        ReviewResult::Pass { context } => compaction::request_summary(draft, cut, context.clone()),
        ReviewResult::ModelText { .. } | ReviewResult::Failed { .. } => {
            compaction::request_summary(draft, cut, None)
        }
    }
}

/// Handles the review of a pruning. A hook may postpone the pruning stages, as long as the window
/// is not full.
fn on_pruning_reviewed(
    draft: &mut DecisionDraft<'_>,
    goal: PruneGoal,
    then: Transition,
    result: &ReviewResult,
) -> NextStep {
    match (result, goal) {
        (ReviewResult::Stop { .. }, _) => finish_without_result(draft, &[StopCause::HookStopped]),
        (ReviewResult::Block { .. }, PruneGoal::CompactionTarget) => {
            compaction::keep_history(draft, then)
        }
        (_, PruneGoal::CompactionTarget) => compaction::prune_or_compact(draft, then),
        (_, PruneGoal::OneCall) => compaction::prune_for_one_call(draft, then),
    }
}

/// Continues after an owner change during a review. Hooks and judge are asked again; a summary is
/// skipped.
pub(super) fn resume_review(draft: &mut DecisionDraft<'_>) -> NextStep {
    match draft.pending_review() {
        Some((_, Review::Summary { compaction, .. })) => {
            abandon_review(draft);
            compaction::record_compaction(draft, &compaction, None)
        }
        Some((_, Review::Judge { cause, .. })) => {
            abandon_review(draft);
            draft.check_time_limits();
            judge::ask_judge_after_review(draft, cause)
        }
        Some(_) | None => NextStep::Wait,
    }
}
