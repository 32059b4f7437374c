//! The watchdog: aborts stuck drivers. A run's time limits are checked by its own driver, and a
//! driver that waits for something that never comes checks nothing: its process continues to renew
//! its lease, so no other process takes the lane. The watchdog checks the limits from outside. A
//! driver that has not returned a while after its run's next limit is aborted; the lane is claimed
//! again, which fences the old driver, and the new driver begins with the limit that was missed.

use std::sync::{Arc, Weak};

use windlass_core::log::ids::LaneId;

use super::{DriverState, LaneHost};
use crate::driver::DriveError;
use crate::telemetry;

/// The longest time between two checks of all drivers, in milliseconds.
const CHECK_INTERVAL_MS: u64 = 1_000;

/// The number of leases by which a driver must be late to count as stuck. Shorter than the time a
/// machine may sleep before that time is not counted.
const MAX_LATE_LEASES: u64 = 3;

/// Checks the drivers until the host is gone.
pub(super) async fn run_watchdog(host: Weak<LaneHost>) {
    let Some((clock, margin_ms)) = host.upgrade().map(|host| {
        let margin_ms = host.expiry_ms().saturating_mul(MAX_LATE_LEASES);
        (Arc::clone(&host.agent().ports.clock), margin_ms)
    }) else {
        return;
    };
    loop {
        clock.sleep(CHECK_INTERVAL_MS.min(margin_ms).max(1)).await;
        let Some(host) = host.upgrade() else { return };
        for lane in host.abort_stuck_drivers(clock.monotonic_ms(), margin_ms) {
            telemetry::emit_driver_stuck(&lane);
            host.replace_stuck_driver(lane);
        }
    }
}

impl LaneHost {
    /// Aborts every driver that is late, and frees its lane in this process. A driver that blocks
    /// its thread notices nothing; the fence keeps it from writing if it ever returns.
    fn abort_stuck_drivers(&self, now_ms: u64, margin_ms: u64) -> Vec<LaneId> {
        let mut late = Vec::new();
        for (lane, slot) in self.lock_slots().iter_mut() {
            if slot.driver_state != DriverState::Absent
                && slot.watchdog_slot.is_overdue(now_ms, margin_ms)
            {
                slot.driver_state = DriverState::Absent;
                slot.watchdog_slot.abort();
                late.push(lane.clone());
            }
        }
        late
    }

    fn replace_stuck_driver(self: &Arc<Self>, lane: LaneId) {
        let Some(reservation) = self.reserve_lane(&lane) else { return };
        let host = Arc::clone(self);
        tokio::spawn(async move {
            if let Err(error @ (DriveError::Log(_) | DriveError::UnknownAgent { .. })) =
                reservation.replacing_stuck_driver().drive(None).await
            {
                host.back_off(lane, &error);
            }
        });
    }
}
