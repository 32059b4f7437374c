//! How long is kept what nobody needs to go on: raw responses and rows of the trace. The log, from
//! which a conversation goes on and from which every row can be made again, is kept for ever.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_core::ids::Millis;

use crate::ports::Forget;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// Rows that are forgotten in one transaction at most: nobody who works waits long for it.
const AT_ONCE: usize = 500;

/// What is kept, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keeping {
    /// Days that raw responses are kept.
    pub raw_days: u32,
    /// Days that rows of the trace and events are kept.
    pub trace_days: u32,
    /// Tenants whose raw responses are not kept at all.
    pub no_raw_of: BTreeSet<Arc<str>>,
}

impl Default for Keeping {
    fn default() -> Self {
        Self { raw_days: 30, trace_days: 400, no_raw_of: BTreeSet::new() }
    }
}

/// Whether what a provider said besides a reply is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeepRaw {
    Yes,
    No,
}

impl Keeping {
    pub(crate) fn raw_of(&self, tenant: &str) -> KeepRaw {
        if self.no_raw_of.contains(tenant) { KeepRaw::No } else { KeepRaw::Yes }
    }

    /// What is too old at `now`.
    pub(crate) fn forget(&self, now: Millis) -> Forget {
        let before = |days: u32| Millis(now.0.saturating_sub(u64::from(days) * DAY_MS));
        Forget {
            raw_before: before(self.raw_days),
            trace_before: before(self.trace_days),
            most: AT_ONCE,
        }
    }
}
