//! Timers: retries that are due, and the soft and hard time limit of a run.

use super::draft::DecisionDraft;
use super::iteration::{self, finish_without_result};
use super::reviews;
use super::stopping;
use super::tool_calls;
use crate::log::record::{AbandonCause, Record, TimeLimit, Transition};
use crate::run::active_run::RunPhase;
use crate::stop::StopCause;

pub(super) fn on_timer_fired(draft: &mut DecisionDraft<'_>) {
    check_time_limits(draft);
    if is_past_hard_limit(draft) {
        return end_at_hard_limit(draft);
    }
    let Some(run) = draft.run() else { return };
    match &run.phase {
        RunPhase::AwaitingRetry { until } if *until <= draft.at => {
            iteration::ask_model(draft, Transition::Retry);
        }
        RunPhase::RunningTools(_) | RunPhase::Paused(_) => tool_calls::advance_round(draft),
        RunPhase::Deciding
        | RunPhase::CallingModel(_)
        | RunPhase::AwaitingRetry { .. }
        | RunPhase::InReview(_) => {}
    }
}

/// Records that a time limit was reached, once for each limit.
pub(super) fn check_time_limits(draft: &mut DecisionDraft<'_>) {
    let Some(run) = draft.run() else { return };
    let Some(times) = draft.settings().and_then(|settings| settings.times) else { return };
    let known = run.reached_time_limit.map(|up| up.limit);
    if run.active_ms >= times.hard_ms && known != Some(TimeLimit::Hard) {
        draft.record(Record::TimeLimitReached { limit: TimeLimit::Hard });
    } else if run.active_ms >= times.soft_ms && known.is_none() {
        draft.record(Record::TimeLimitReached { limit: TimeLimit::Soft });
    }
}

fn is_past_hard_limit(draft: &DecisionDraft<'_>) -> bool {
    let up = draft.run().and_then(|run| run.reached_time_limit);
    up.is_some_and(|up| up.limit == TimeLimit::Hard)
}

/// Ends the run at the hard limit: everything in flight is given up.
fn end_at_hard_limit(draft: &mut DecisionDraft<'_>) {
    let Some(run) = draft.run() else { return };
    match &run.phase {
        RunPhase::CallingModel(asking) => {
            let abandoned = stopping::abandon_model_call(asking, AbandonCause::TimeLimit);
            draft.record(abandoned);
            finish_without_result(draft, &[StopCause::HardTime]);
        }
        RunPhase::InReview(_) => reviews::stop_during_review(draft, StopCause::HardTime),
        RunPhase::RunningTools(_) | RunPhase::Paused(_) => tool_calls::advance_round(draft),
        RunPhase::Deciding | RunPhase::AwaitingRetry { .. } => {
            finish_without_result(draft, &[StopCause::HardTime]);
        }
    }
}
