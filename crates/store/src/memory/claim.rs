//! Claiming and releasing lanes; heartbeats.

use windlass_core::log::ids::{Epoch, LaneId};
use windlass_runtime::ports::{
    ClaimQuery, INBOX_PAGE_MESSAGES, LaneClaim, ObservedHeartbeat, StoreError, WorkerId,
};

use super::store_state::StoreState;

impl StoreState {
    pub(super) fn claim(
        &mut self,
        lane: &LaneId,
        worker: &WorkerId,
        dead: Option<&ObservedHeartbeat>,
    ) -> Result<LaneClaim, StoreError> {
        if let Some(owner) = self.owner_heartbeat(lane)?
            && dead != Some(&owner)
        {
            return Err(StoreError::Busy { lane: lane.clone(), owner });
        }
        let taken = self.lane_mut(lane)?;
        taken.epoch = taken.epoch.saturating_add(1);
        taken.owner = Some(worker.clone());
        let (fork_of, tenant) = (taken.parent.clone(), taken.tenant());
        let workspace = taken.affinity.workspace.clone();
        let (epoch, head) = (taken.epoch, taken.head);
        let messages = Some(self.pending_messages(lane, INBOX_PAGE_MESSAGES)?);
        Ok(LaneClaim { epoch, head, fork_of, tenant, workspace, messages })
    }

    pub(super) fn claim_runnable(
        &mut self,
        worker: &WorkerId,
        look: &ClaimQuery,
    ) -> Result<Vec<(LaneId, LaneClaim)>, StoreError> {
        let wanting = self.runnable_lanes(look).into_iter();
        wanting.map(|lane| Ok((lane.clone(), self.claim(&lane, worker, None)?))).collect()
    }

    fn owner_heartbeat(&self, lane: &LaneId) -> Result<Option<ObservedHeartbeat>, StoreError> {
        let owner = self.lane_ref(lane)?.owner.clone();
        Ok(owner
            .map(|worker| ObservedHeartbeat { heartbeats: self.heartbeat_count(&worker), worker }))
    }

    pub(super) fn heartbeat_count(&self, worker: &WorkerId) -> u64 {
        self.heartbeats.get(worker).copied().unwrap_or_default()
    }

    pub(super) fn release(&mut self, lane: &LaneId, worker: &WorkerId, epoch: Epoch) {
        if let Some(lane) = self.lanes.get_mut(lane)
            && lane.epoch == epoch
            && lane.owner.as_ref() == Some(worker)
        {
            lane.owner = None;
        }
    }

    pub(super) fn record_heartbeat(&mut self, worker: &WorkerId) {
        let heartbeats = self.heartbeat_count(worker).saturating_add(1);
        self.heartbeats.insert(worker.clone(), heartbeats);
    }
}
