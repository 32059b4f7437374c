//! The retention policy of a process: how long data is kept that no conversation needs to continue,
//! which is raw responses and trace rows. The log, from which a conversation continues and from
//! which every row can be rebuilt, is kept for ever.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_core::log::ids::UnixMillis;

use crate::ports::RetentionCutoffs;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// The largest number of rows deleted in one transaction, so that writers do not wait long.
const MAX_ROWS_PER_PASS: usize = 500;

/// How long raw responses and trace rows are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetentionPolicy {
    /// The number of days that raw responses are kept.
    pub raw_days: u32,
    /// The number of days that trace rows and events are kept.
    pub trace_days: u32,
    /// Tenants whose raw responses are not kept at all.
    pub tenants_without_raw: BTreeSet<Arc<str>>,
}

impl Default for RetentionPolicy {
    fn default() -> Self {
        Self { raw_days: 30, trace_days: 400, tenants_without_raw: BTreeSet::new() }
    }
}

impl RetentionPolicy {
    /// Returns whether the raw responses of providers are kept for a tenant.
    pub(crate) fn should_keep_raw(&self, tenant: &str) -> bool {
        !self.tenants_without_raw.contains(tenant)
    }

    /// Returns the cut-off times at `now`.
    pub(crate) fn cutoffs_at(&self, now: UnixMillis) -> RetentionCutoffs {
        let before = |days: u32| UnixMillis(now.0.saturating_sub(u64::from(days) * DAY_MS));
        RetentionCutoffs {
            raw_before: before(self.raw_days),
            trace_before: before(self.trace_days),
            limit: MAX_ROWS_PER_PASS,
        }
    }
}
