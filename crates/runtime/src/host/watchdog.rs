//! Ends drivers that are stuck. A run's time limits are judged by its own driver, and one that waits
//! for something that never comes judges nothing: its process goes on beating, so no other process
//! takes the lane. This looks at the limits from outside. A driver that has not come back a while
//! after its run's next limit is cut off; the lane is claimed anew, which fences it, and the new driver
//! begins with the limit that was missed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use tokio_util::sync::CancellationToken;
use windlass_core::ids::LaneId;

use super::{Driving, Host};
use crate::driver::DriveError;
use crate::telemetry;

/// Looks at all drivers this often, at most.
const EVERY_MS: u64 = 1_000;

/// A driver is stuck if it is late by this many leases. Shorter than a machine may sleep before the
/// time is not counted.
const LATE_LEASES: u64 = 3;

/// What the watchdog knows of a driver.
#[derive(Clone, Default)]
pub(crate) struct WatchedDriver {
    /// When it must have come back, in this process's own time; 0 for never.
    due_ms: Arc<AtomicU64>,
    cut_off: CancellationToken,
}

impl WatchedDriver {
    /// The driver comes back by then, or never if nothing limits its run.
    pub(crate) fn expect_by(&self, due_ms: Option<u64>) {
        self.due_ms.store(due_ms.unwrap_or_default(), Ordering::Relaxed);
    }

    /// Resolves when the driver is given up.
    pub(crate) async fn cut_off(&self) {
        self.cut_off.cancelled().await;
    }

    pub(super) fn is_cut_off(&self) -> bool {
        self.cut_off.is_cancelled()
    }

    fn is_late(&self, now_ms: u64, margin_ms: u64) -> bool {
        let due_ms = self.due_ms.load(Ordering::Relaxed);
        due_ms > 0 && now_ms > due_ms.saturating_add(margin_ms)
    }
}

/// Watches until the host is gone.
pub(super) async fn watch(host: Weak<Host>) {
    let Some((clock, margin_ms)) = host.upgrade().map(|host| {
        let margin_ms = host.expiry_ms().saturating_mul(LATE_LEASES);
        (Arc::clone(&host.agent().ports.clock), margin_ms)
    }) else {
        return;
    };
    loop {
        clock.sleep(EVERY_MS.min(margin_ms).max(1)).await;
        let Some(host) = host.upgrade() else { return };
        for lane in host.cut_off_late(clock.monotonic_ms(), margin_ms) {
            telemetry::stuck(&lane);
            host.replace_stuck(lane);
        }
    }
}

impl Host {
    /// Gives up every driver that is late, and frees its lane in this process. A driver that blocks
    /// its thread notices nothing; the fence keeps it from writing whenever it comes back.
    fn cut_off_late(&self, now_ms: u64, margin_ms: u64) -> Vec<LaneId> {
        let mut late = Vec::new();
        for (lane, slot) in self.slots().iter_mut() {
            if slot.driving != Driving::No && slot.watched.is_late(now_ms, margin_ms) {
                slot.driving = Driving::No;
                slot.watched.cut_off.cancel();
                late.push(lane.clone());
            }
        }
        late
    }

    fn replace_stuck(self: &Arc<Self>, lane: LaneId) {
        let Some(reservation) = self.reserve(&lane) else { return };
        let host = Arc::clone(self);
        tokio::spawn(async move {
            if let Err(error @ (DriveError::Log(_) | DriveError::NoAgent { .. })) =
                reservation.after_stuck_driver().drive(None).await
            {
                host.shun(lane, &error);
            }
        });
    }
}
