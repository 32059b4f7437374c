//! Cancel and abort. Cancel waits for calls in flight and starts nothing new; abort also stops the
//! model and interruptible calls. Every call still gets a truthful result.

use super::draft::DecisionDraft;
use super::finishing::{finish_with_suspect_answer, finish_without_result};
use super::interrupted_review;
use super::next_step::NextStep;
use crate::log::ids::InboxMessageId;
use crate::log::record::{AbandonCause, Record, StopMode};
use crate::run::active_run::RunPhase;
use crate::stop::StopCause;

/// Records that a stop was requested, and does what can be done at once.
pub(super) fn request_stop(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    mode: StopMode,
) -> NextStep {
    draft.record(Record::CancelRequested { message, mode });
    on_stop_requested(draft, mode)
}

/// Handles a requested stop: does at once what can be done at once.
fn on_stop_requested(draft: &mut DecisionDraft<'_>, how: StopMode) -> NextStep {
    let Some(run) = draft.run() else { return NextStep::Wait };
    match &run.phase {
        RunPhase::Deciding => NextStep::Wait,
        RunPhase::CallingModel(_) if how == StopMode::Cancel => NextStep::Wait,
        RunPhase::CallingModel(_) => {
            draft.abandon_model_call(AbandonCause::Cancelled);
            finish_without_result(draft, &[StopCause::UserCancel])
        }
        RunPhase::AwaitingRetry { .. } => finish_without_result(draft, &[StopCause::UserCancel]),
        RunPhase::InReview(_) => {
            interrupted_review::stop_during_review(draft, StopCause::UserCancel)
        }
        RunPhase::Paused(halt) if halt.round.is_none() => match halt.suspect_answer().cloned() {
            Some(kept) => finish_with_suspect_answer(draft, &kept),
            None => finish_without_result(draft, &[StopCause::UserCancel]),
        },
        RunPhase::RunningTools(_) | RunPhase::Paused(_) => NextStep::AdvanceRound,
    }
}
