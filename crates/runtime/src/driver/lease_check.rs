//! Lease check: confirms that this process still owns the lane before effects start, and after a
//! lapse.

use std::sync::Arc;

use windlass_core::wanted;

use super::{DriveError, Driver};
use crate::ports::StoreError;

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
            self.lease.send_heartbeat(self.ports.store.as_ref()).await?;
            let lapses = self.lease.lapse_count();
            let lane = self.ports.store.lane_info(self.lane.clone()).await?;
            if !lane.is_some_and(|lane| lane.is_owned_by(&self.lease.worker, self.epoch)) {
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
        let (lease, store) = (self.lease.clone(), Arc::clone(&self.ports.store));
        let lane = self.lane.clone();
        let asked = async {
            lease.send_heartbeat(store.as_ref()).await?;
            store.lane_info(lane).await
        };
        let answer = tokio::select! {
            biased;
            answer = asked => answer.ok().flatten(),
            () = self.ports.clock.sleep(self.lease.times.heartbeat_ms) => None,
        };
        if answer.is_some_and(|lane| lane.is_owned_by(&self.lease.worker, self.epoch)) {
            return Ok(());
        }
        self.effects.abort_all();
        Err(StoreError::Fenced { lane: self.lane.clone() }.into())
    }
}
