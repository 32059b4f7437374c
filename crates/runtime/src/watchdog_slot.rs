//! What the watchdog and a driver share: the deadline of the driver, and whether it was aborted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio_util::sync::CancellationToken;

/// What the watchdog knows of a driver.
#[derive(Clone, Default)]
pub(crate) struct WatchdogSlot {
    /// When the driver must have returned, in monotonic time of this process; 0 for never.
    deadline_ms: Arc<AtomicU64>,
    abort_token: CancellationToken,
}

impl WatchdogSlot {
    /// Sets when the driver returns at the latest; never if nothing limits its run.
    pub(crate) fn set_deadline(&self, due_ms: Option<u64>) {
        self.deadline_ms.store(due_ms.unwrap_or_default(), Ordering::Relaxed);
    }

    /// Resolves when the driver is aborted.
    pub(crate) async fn wait_until_aborted(&self) {
        self.abort_token.cancelled().await;
    }

    pub(crate) fn is_aborted(&self) -> bool {
        self.abort_token.is_cancelled()
    }

    /// Aborts the driver.
    pub(crate) fn abort(&self) {
        self.abort_token.cancel();
    }

    /// Returns whether the driver is late by more than the margin.
    pub(crate) fn is_overdue(&self, now_ms: u64, margin_ms: u64) -> bool {
        let due_ms = self.deadline_ms.load(Ordering::Relaxed);
        due_ms > 0 && now_ms > due_ms.saturating_add(margin_ms)
    }
}
