//! The state of this worker: its identity, the lanes it drives, and whether it must stop.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use windlass_core::log::ids::{Epoch, LaneId};

use super::{DriverState, HeldClaim, LaneHost};
use crate::ports::{StoreError, WorkerId};
use crate::telemetry::{self, ReconcileCounts};

/// How often to check whether every driver has stopped, in milliseconds.
const STOP_POLL_MS: u64 = 20;

impl LaneHost {
    /// The worker id of this process.
    pub(crate) fn worker_id(&self) -> &WorkerId {
        &self.lease.worker
    }

    /// The time without a renewal of the lease after which others may take its lanes.
    pub(crate) fn expiry_ms(&self) -> u64 {
        self.lease.times.expiry_ms
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

    pub(super) async fn release_lane(&self, lane: LaneId, epoch: Epoch) -> Result<(), StoreError> {
        self.store().release_lane(lane, Arc::clone(&self.lease.worker), epoch).await
    }

    /// Releases a claimed lane without a driver. A failure is retried by housekeeping.
    pub(crate) async fn release_claim(&self, lane: LaneId, held: &HeldClaim) {
        let epoch = held.claim.epoch;
        if self.release_lane(lane.clone(), epoch).await.is_err() {
            self.lock_unreleased().insert(lane, epoch);
        }
    }

    /// Drives lanes that the store assigns to this process but that are unknown here: the response
    /// to a claim was lost.
    pub(crate) async fn drive_unknown_owned_lanes(self: &Arc<Self>) -> Result<(), StoreError> {
        let owned = self.store().lanes_owned_by(Arc::clone(&self.lease.worker)).await?;
        let backing_off = self.backing_off_lanes();
        for lane in owned {
            let is_kept = self.lock_unreleased().contains_key(&lane);
            if !is_kept && !self.is_driving(&lane) && !backing_off.contains(&lane) {
                self.drive(&lane);
            }
        }
        Ok(())
    }

    /// Renews the lease and records a fatal error if the store is broken or corrupt.
    pub(crate) async fn check_store(&self) {
        let renewed = self.lease.renew(self.store()).await;
        if let Err(fatal @ (StoreError::Broken { .. } | StoreError::Corrupt { .. })) = renewed {
            _ = self.fatal_store_error.set(fatal);
        }
    }

    /// The fatal store error for which this process must stop, if there is one.
    pub(crate) fn fatal_store_error(&self) -> Option<&StoreError> {
        self.fatal_store_error.get()
    }

    /// Stores an event of this process. Errors are ignored: a store that does not respond is
    /// reported elsewhere.
    pub(crate) async fn record_worker_event(
        &self,
        event: (&str, Option<LaneId>, &impl serde::Serialize),
    ) {
        let at = self.agent().ports.clock.now();
        let event = telemetry::build_worker_event(self.worker_id(), at, event);
        _ = self.store().record_worker_event(event).await;
    }

    /// Locks the counts of the reconciler since its last report.
    pub(crate) fn lock_counts(&self) -> MutexGuard<'_, ReconcileCounts> {
        self.reconcile_counts.lock().unwrap_or_else(PoisonError::into_inner)
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
