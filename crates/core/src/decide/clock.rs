//! The time that was waited for has come, and the time a run may take.

use super::boundary::{self, finish_badly};
use super::calls;
use super::counsel;
use super::draft::Draft;
use super::stopping;
use crate::record::{Record, TimeLimit, Transition};
use crate::run::Phase;
use crate::stop::StopCause;

pub(super) fn ticked(draft: &mut Draft<'_>) {
    look(draft);
    if is_over(draft) {
        return end(draft);
    }
    let Some(run) = draft.run() else { return };
    match &run.phase {
        Phase::Deferred { until } if *until <= draft.at => boundary::ask(draft, Transition::Retry),
        Phase::Acting(_) | Phase::Halted(_) => calls::advance(draft),
        Phase::Between | Phase::Asking(_) | Phase::Deferred { .. } | Phase::Consulting(_) => {}
    }
}

/// Records that a time is up, once for each limit.
pub(super) fn look(draft: &mut Draft<'_>) {
    let Some(run) = draft.run() else { return };
    let Some(times) = draft.settings().and_then(|settings| settings.times) else { return };
    let known = run.time_up.map(|up| up.limit);
    if run.active_ms >= times.hard_ms && known != Some(TimeLimit::Hard) {
        draft.record(Record::TimeUp { limit: TimeLimit::Hard });
    } else if run.active_ms >= times.soft_ms && known.is_none() {
        draft.record(Record::TimeUp { limit: TimeLimit::Soft });
    }
}

fn is_over(draft: &Draft<'_>) -> bool {
    let up = draft.run().and_then(|run| run.time_up);
    up.is_some_and(|up| up.limit == TimeLimit::Hard)
}

/// The hard limit: whatever is in the air is given up.
fn end(draft: &mut Draft<'_>) {
    let Some(run) = draft.run() else { return };
    match &run.phase {
        Phase::Asking(asking) => {
            let abandoned = stopping::abandon(asking, "the time for the run is up");
            draft.record(abandoned);
            finish_badly(draft, &[StopCause::HardTime]);
        }
        Phase::Consulting(_) => counsel::stopped(draft, StopCause::HardTime),
        Phase::Acting(_) | Phase::Halted(_) => calls::advance(draft),
        Phase::Between | Phase::Deferred { .. } => finish_badly(draft, &[StopCause::HardTime]),
    }
}
