//! Backoff of lanes: a lane that could not be driven here is left to other workers for a while.

use std::sync::PoisonError;

use windlass_core::log::ids::LaneId;

use super::LaneHost;
use crate::driver::DriveError;
use crate::ports::StoreError;

#[cfg(test)]
#[path = "lane_backoff_tests.rs"]
mod lane_backoff_tests;

/// The backoff of a lane that cannot be driven here. The fault lasts; another process may be able
/// to drive the lane.
const LANE_FAULT_BACKOFF_MS: u64 = 60_000;

/// The backoff after a store error. It passes, and other processes have it too.
const STORE_FAULT_BACKOFF_MS: u64 = 2_000;

/// The backoff: how long a lane that could not be driven is left to other workers.
const fn backoff_ms(error: &DriveError) -> u64 {
    let DriveError::Store(error) = error else { return LANE_FAULT_BACKOFF_MS };
    match error {
        // The new owner may die; the lane is then free again.
        StoreError::Fenced { .. } | StoreError::Busy { .. } => 0,
        StoreError::DiskFull { .. }
        | StoreError::ReadOnly { .. }
        | StoreError::Locked { .. }
        | StoreError::Unreachable { .. }
        | StoreError::Broken { .. } => STORE_FAULT_BACKOFF_MS,
        StoreError::LaneNotFound { .. }
        | StoreError::Invalid { .. }
        | StoreError::LimitReached { .. }
        | StoreError::Corrupt { .. }
        | StoreError::OlderSchema { .. }
        | StoreError::NewerSchema { .. } => LANE_FAULT_BACKOFF_MS,
    }
}

impl LaneHost {
    /// Starts the backoff of a lane that could not be driven: it is left to other workers for a
    /// while.
    pub(crate) fn back_off(&self, lane: LaneId, error: &DriveError) {
        let now = self.agent().ports.clock.monotonic_ms();
        let mut backing_off = self.backing_off.lock().unwrap_or_else(PoisonError::into_inner);
        backing_off.retain(|_, until| *until > now);
        backing_off.insert(lane, now.saturating_add(backoff_ms(error)));
    }

    /// The lanes that are in backoff now.
    pub(super) fn backing_off_lanes(&self) -> Vec<LaneId> {
        let now = self.agent().ports.clock.monotonic_ms();
        let backing_off = self.backing_off.lock().unwrap_or_else(PoisonError::into_inner);
        backing_off
            .iter()
            .filter(|(_, until)| **until > now)
            .map(|(lane, _)| lane.clone())
            .collect()
    }
}
