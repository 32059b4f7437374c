//! Lease check: confirms that this process still owns the lane before effects start, and after a
//! lapse. The watchdog checks the driver itself.

use std::sync::Arc;

use windlass_core::log::ids::{Epoch, LaneId};
use windlass_core::run::wanted::{next_time_limit_at, wanted};

use super::{DriveError, Driver};
use crate::lease::WorkerLease;
use crate::ports::{Store, StoreError};

impl Driver {
    /// Confirms that this process still owns the lane before effects start: a process that was
    /// frozen may have lost it without noticing.
    pub(super) async fn ensure_lease(&mut self) -> Result<(), DriveError> {
        let starting = !self.effects.has_started_all(&wanted(&self.conversation).effects);
        if !starting {
            return Ok(());
        }
        // The check may take longer than the lease lasts: then it is repeated.
        while !(self.lease.is_fresh() && self.lease.lapse_count() == self.owned_since_lapse) {
            let store = self.ports.store.as_ref();
            self.lease.renew(store).await?;
            let lapses = self.lease.lapse_count();
            if !is_owner(store, &self.lease, &self.lane, self.epoch).await? {
                return Err(StoreError::Fenced { lane: self.lane.clone() }.into());
            }
            self.owned_since_lapse = lapses;
        }
        Ok(())
    }

    /// Renews the lease after a lapse. If that fails, other processes may have the lane by now, and
    /// every effect in flight is aborted. A process that was only frozen finds that it still owns
    /// the lane, and continues.
    pub(super) async fn renew_lease(&mut self) -> Result<(), DriveError> {
        let (store, lane, epoch) = (Arc::clone(&self.ports.store), self.lane.clone(), self.epoch);
        let lease = self.lease.clone();
        let confirmation = async {
            lease.renew(store.as_ref()).await?;
            is_owner(store.as_ref(), &lease, &lane, epoch).await
        };
        let is_owned = tokio::select! {
            biased;
            answer = confirmation => answer.unwrap_or(false),
            () = self.ports.clock.sleep(self.lease.renewal_interval_ms()) => false,
        };
        if is_owned {
            return Ok(());
        }
        self.effects.abort_all();
        Err(StoreError::Fenced { lane: self.lane.clone() }.into())
    }
    /// Tells the watchdog when the next time limit of the run is due.
    pub(super) fn set_watchdog_deadline(&mut self) {
        let now = self.now();
        let in_ms = next_time_limit_at(&self.conversation).map(|due| due.ms_since(now));
        let monotonic_ms = self.ports.clock.monotonic_ms();
        self.options
            .watchdog_slot
            .set_deadline(in_ms.map(|ms| monotonic_ms.saturating_add(ms).max(1)));
    }
}

/// Asks the store whether this process owns the lane.
async fn is_owner(
    store: &dyn Store,
    lease: &WorkerLease,
    lane: &LaneId,
    epoch: Epoch,
) -> Result<bool, StoreError> {
    let info = store.lane_info(lane.clone()).await?;
    Ok(info.is_some_and(|info| info.is_owned_by(&lease.worker, epoch)))
}
