//! What the reconciler did since it last told.

use windlass_core::stop::RunState;

use crate::driver::Rest;
use crate::ports::Left;

/// Counts of one pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Runs whose owner died.
    pub(crate) timed_out: u64,
    /// Of those, the ones that can be resumed.
    pub(crate) resume_available: u64,
    /// Lanes that could not be driven here.
    pub(crate) failed: u64,
    /// Parked runs whose cancel was overdue.
    pub(crate) cancelled: u64,
}

impl Tally {
    pub(crate) fn left(&mut self, left: &[Left]) {
        let timed_out = left.iter().filter(|left| left.timed_out.is_some());
        self.timed_out += timed_out.count() as u64;
        self.resume_available += left.iter().filter(|left| left.resume_available).count() as u64;
    }

    /// A lane that nobody watches came to rest. A run that its user cancelled in the ordinary way
    /// was not reconciled: only one whose cancel was overdue is counted.
    pub(crate) fn rested(&mut self, rest: &Rest) {
        let Rest::Idle(conversation) = rest else { return };
        let Some(ended) = &conversation.last_end else { return };
        let cancelled = ended.cause.state(ended.has_text()) == RunState::Cancelled;
        self.cancelled += u64::from(cancelled && ended.by_clock);
    }

    /// Whether nothing was counted.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What was counted; counting begins anew.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::take(self)
    }
}
