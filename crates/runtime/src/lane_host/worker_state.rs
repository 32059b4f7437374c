//! The state of this worker: its identity, the lanes it drives, the backoff of faulty lanes, and
//! whether it must stop.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use windlass_core::log::ids::{Epoch, LaneId};

use super::{DriverState, HeldClaim, LaneHost};
use crate::driver::DriveError;
use crate::ports::{ServedWorkspace, StoreError, WorkerId};
use crate::worker_loop::ReconcileTally;

#[cfg(test)]
#[path = "standing_tests.rs"]
mod standing_tests;

/// How often to check whether every driver has stopped, in milliseconds.
const STOP_POLL_MS: u64 = 20;

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
        | StoreError::Corrupt { .. }
        | StoreError::OlderSchema { .. }
        | StoreError::NewerSchema { .. } => LANE_FAULT_BACKOFF_MS,
    }
}

impl LaneHost {
    /// The worker id of this process.
    pub(crate) fn worker_id(&self) -> &WorkerId {
        &self.lease.worker
    }

    /// The time without a heartbeat after which others may take its lanes.
    pub(crate) fn expiry_ms(&self) -> u64 {
        self.lease.times.expiry_ms
    }

    /// The workspaces that this process serves.
    pub(crate) fn served_workspaces(&self) -> Vec<ServedWorkspace> {
        self.agents.served_workspaces()
    }

    /// How long tool calls may continue after the request to hand over.
    pub(crate) fn grace_ms(&self) -> u64 {
        self.grace_ms.load(Ordering::SeqCst)
    }

    pub(crate) fn is_handing_over(&self) -> bool {
        self.hand_over.is_cancelled()
    }

    pub(crate) async fn wait_for_hand_over(&self) {
        self.hand_over.cancelled().await;
    }

    /// Returns whether a driver of this process has the lane.
    pub(crate) fn is_driving(&self, lane: &LaneId) -> bool {
        self.lock_slots().get(lane).is_some_and(|slot| slot.driver_state != DriverState::Absent)
    }

    /// Starts the backoff of a lane that could not be driven: it is left to other workers for a
    /// while.
    pub(crate) fn back_off(&self, lane: LaneId, error: &DriveError) {
        let now = self.agent().ports.clock.monotonic_ms();
        let mut shunned = self.backing_off.lock().unwrap_or_else(PoisonError::into_inner);
        shunned.retain(|_, until| *until > now);
        shunned.insert(lane, now.saturating_add(backoff_ms(error)));
    }

    /// The lanes that are in backoff now.
    pub(super) fn backing_off_lanes(&self) -> Vec<LaneId> {
        let now = self.agent().ports.clock.monotonic_ms();
        let shunned = self.backing_off.lock().unwrap_or_else(PoisonError::into_inner);
        shunned.iter().filter(|(_, until)| **until > now).map(|(lane, _)| lane.clone()).collect()
    }

    pub(super) async fn release_lane(&self, lane: LaneId, epoch: Epoch) -> Result<(), StoreError> {
        self.store().release_lane(lane, Arc::clone(&self.lease.worker), epoch).await
    }

    /// Releases a claimed lane without a driver. A failure is retried by housekeeping.
    pub(crate) async fn release_claim(&self, lane: LaneId, taken: &HeldClaim) {
        let epoch = taken.claim.epoch;
        if self.release_lane(lane.clone(), epoch).await.is_err() {
            self.lock_unreleased().insert(lane, epoch);
        }
    }

    /// Drives lanes that the store assigns to this process but that are unknown here: the response
    /// to a claim was lost.
    pub(crate) async fn drive_unknown_owned_lanes(self: &Arc<Self>) -> Result<(), StoreError> {
        let owned = self.store().lanes_owned_by(Arc::clone(&self.lease.worker)).await?;
        let shunned = self.backing_off_lanes();
        for lane in owned {
            let is_kept = self.lock_unreleased().contains_key(&lane);
            if !is_kept && !self.is_driving(&lane) && !shunned.contains(&lane) {
                self.drive(&lane);
            }
        }
        Ok(())
    }

    /// Sends a heartbeat and records a fatal error if the store is broken or corrupt.
    pub(crate) async fn check_store(&self) {
        let beat = self.lease.send_heartbeat(self.store()).await;
        if let Err(ruin @ (StoreError::Broken { .. } | StoreError::Corrupt { .. })) = beat {
            _ = self.fatal_store_error.set(ruin);
        }
    }

    /// The fatal store error for which this process must stop, if there is one.
    pub(crate) fn fatal_store_error(&self) -> Option<&StoreError> {
        self.fatal_store_error.get()
    }

    /// Locks the counts of the reconciler since its last report.
    pub(crate) fn lock_tally(&self) -> MutexGuard<'_, ReconcileTally> {
        self.reconcile_tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no driver of this process has a lane, but no longer than `most_ms` milliseconds.
    pub(crate) async fn wait_until_idle(&self, most_ms: u64) {
        let clock = &self.agent().ports.clock;
        let until = clock.monotonic_ms().saturating_add(most_ms);
        while self.is_driving_any() && clock.monotonic_ms() < until {
            tokio::select! {
                () = self.lane_rested.notified() => {}
                () = clock.sleep(STOP_POLL_MS) => {}
            }
        }
    }

    pub(super) fn is_driving_any(&self) -> bool {
        self.lock_slots().values().any(|slot| slot.driver_state != DriverState::Absent)
    }
}
