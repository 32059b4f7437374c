//! How many processes may still be killed. A blow is reserved before it falls; one that finds its
//! victim gone is given back, so that the campaign kills exactly as many as it was asked to.

use std::sync::atomic::{AtomicU64, Ordering};

/// The kills of a campaign.
#[derive(Debug)]
pub(crate) struct Budget {
    left: AtomicU64,
    spent: AtomicU64,
}

/// One kill, reserved.
#[derive(Debug)]
pub(crate) struct Permit<'b> {
    budget: &'b Budget,
}

impl Budget {
    pub(crate) fn of(kills: u64) -> Self {
        Self { left: AtomicU64::new(kills), spent: AtomicU64::new(0) }
    }

    /// Reserves a kill, if one is left.
    pub(crate) fn reserve(&self) -> Option<Permit<'_>> {
        let less = |left: u64| left.checked_sub(1);
        let taken = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
        taken.ok().map(|_| Permit { budget: self })
    }

    /// Whether none is left to reserve.
    pub(crate) fn is_empty(&self) -> bool {
        self.left.load(Ordering::SeqCst) == 0
    }

    /// How many processes were killed.
    pub(crate) fn spent(&self) -> u64 {
        self.spent.load(Ordering::SeqCst)
    }
}

impl Permit<'_> {
    /// The victim died of it.
    pub(crate) fn spend(self) {
        self.budget.spent.fetch_add(1, Ordering::SeqCst);
        std::mem::forget(self);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.budget.left.fetch_add(1, Ordering::SeqCst);
    }
}
