//! Timers: retries that are due, and the soft and hard time limit of a run.

use super::draft::DecisionDraft;
use super::finishing::finish_without_result;
use super::interrupted_review;
use super::next_step::NextStep;
use crate::log::record::{AbandonCause, Transition};
use crate::run::active_run::RunPhase;
use crate::stop::StopCause;

pub(super) fn on_timer_fired(draft: &mut DecisionDraft<'_>) -> NextStep {
    draft.check_time_limits();
    if draft.is_past_hard_limit() {
        return end_at_hard_limit(draft);
    }
    let Some(run) = draft.run() else { return NextStep::Wait };
    match &run.phase {
        RunPhase::AwaitingRetry { until } if *until <= draft.at => {
            NextStep::ask_model(Transition::Retry)
        }
        RunPhase::RunningTools(_) | RunPhase::Paused(_) => NextStep::AdvanceRound,
        RunPhase::Deciding
        | RunPhase::CallingModel(_)
        | RunPhase::AwaitingRetry { .. }
        | RunPhase::InReview(_) => NextStep::Wait,
    }
}

/// Ends the run at the hard limit: everything in flight is given up.
fn end_at_hard_limit(draft: &mut DecisionDraft<'_>) -> NextStep {
    let Some(run) = draft.run() else { return NextStep::Wait };
    match &run.phase {
        RunPhase::CallingModel(_) => {
            draft.abandon_model_call(AbandonCause::TimeLimit);
            finish_without_result(draft, &[StopCause::HardTime])
        }
        RunPhase::InReview(_) => interrupted_review::stop_during_review(draft, StopCause::HardTime),
        RunPhase::RunningTools(_) | RunPhase::Paused(_) => NextStep::AdvanceRound,
        RunPhase::Deciding | RunPhase::AwaitingRetry { .. } => {
            finish_without_result(draft, &[StopCause::HardTime])
        }
    }
}
