//! Kill budget: a kill is reserved first, and returned if the process had already ended, so that
//! the campaign kills exactly as many processes as requested.

use std::sync::atomic::{AtomicU64, Ordering};

/// The kill budget of a campaign.
#[derive(Debug)]
pub(crate) struct KillBudget {
    left: AtomicU64,
    spent: AtomicU64,
}

/// One reserved kill.
#[derive(Debug)]
pub(crate) struct KillPermit<'b> {
    budget: &'b KillBudget,
}

impl KillBudget {
    pub(crate) fn with_kills(kills: u64) -> Self {
        Self { left: AtomicU64::new(kills), spent: AtomicU64::new(0) }
    }

    /// Reserves a kill, if one is left.
    pub(crate) fn reserve(&self) -> Option<KillPermit<'_>> {
        let less = |left: u64| left.checked_sub(1);
        let taken = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
        taken.ok().map(|_| KillPermit { budget: self })
    }

    /// Returns whether none is left to reserve.
    pub(crate) fn is_empty(&self) -> bool {
        self.left.load(Ordering::SeqCst) == 0
    }

    /// The number of killed processes.
    pub(crate) fn kills_done(&self) -> u64 {
        self.spent.load(Ordering::SeqCst)
    }
}

impl KillPermit<'_> {
    /// Spends the permit: the process was killed.
    pub(crate) fn mark_killed(self) {
        self.budget.spent.fetch_add(1, Ordering::SeqCst);
        std::mem::forget(self);
    }
}

impl Drop for KillPermit<'_> {
    fn drop(&mut self) {
        self.budget.left.fetch_add(1, Ordering::SeqCst);
    }
}
