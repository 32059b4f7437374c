//! Counts what the reconciler does.

use windlass_core::stop::RunState;

use crate::driver::DriveOutcome;
use crate::ports::AbandonedLane;
use crate::telemetry::ReconcileCounts;

impl ReconcileCounts {
    pub(crate) fn count_abandoned(&mut self, left: &[AbandonedLane]) {
        let timed_out = left.iter().filter(|left| left.timed_out.is_some());
        self.timed_out += timed_out.count() as u64;
        self.resume_available += left.iter().filter(|left| left.resume_available).count() as u64;
    }

    /// Counts a lane that came to rest in the background. A run that its user cancelled in the
    /// ordinary way was not reconciled: only one whose cancel was overdue is counted.
    pub(crate) fn count_rested(&mut self, rest: &DriveOutcome) {
        let DriveOutcome::Idle(conversation) = rest else { return };
        let Some(ended) = &conversation.last_run_end else { return };
        let cancelled = ended.cause.run_state(ended.text_presence()) == RunState::Cancelled;
        self.cancelled += u64::from(cancelled && ended.ended_by_timer);
    }

    /// Returns whether nothing was counted.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the counts and starts again from zero.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::take(self)
    }
}
