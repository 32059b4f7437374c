//! Taking lanes, giving them back, and being alive.

use windlass_core::ids::{Epoch, LaneId};
use windlass_runtime::ports::{Claim, Look, MAIL_PAGE, SeenBeat, StoreError, WorkerId};

use super::world::World;

impl World {
    pub(super) fn claim(
        &mut self,
        lane: &LaneId,
        worker: &WorkerId,
        dead: Option<&SeenBeat>,
    ) -> Result<Claim, StoreError> {
        if let Some(owner) = self.owner(lane)?
            && dead != Some(&owner)
        {
            return Err(StoreError::Busy { lane: lane.clone(), owner });
        }
        let taken = self.lane_mut(lane)?;
        taken.epoch = taken.epoch.saturating_add(1);
        taken.owner = Some(worker.clone());
        let (fork_of, tenant) = (taken.parent.clone(), taken.tenant());
        let affinity = taken.whose.affinity.clone();
        let (epoch, head) = (taken.epoch, taken.head);
        let mail = Some(self.waiting_mail(lane, MAIL_PAGE)?);
        Ok(Claim { epoch, head, fork_of, tenant, affinity, mail })
    }

    pub(super) fn claim_wanting(
        &mut self,
        worker: &WorkerId,
        look: &Look,
    ) -> Result<Vec<(LaneId, Claim)>, StoreError> {
        let wanting = self.wanting(look).into_iter();
        wanting.map(|lane| Ok((lane.clone(), self.claim(&lane, worker, None)?))).collect()
    }

    fn owner(&self, lane: &LaneId) -> Result<Option<SeenBeat>, StoreError> {
        let owner = self.lane_ref(lane)?.owner.clone();
        Ok(owner.map(|worker| SeenBeat { beats: self.beats(&worker), worker }))
    }

    pub(super) fn beats(&self, worker: &WorkerId) -> u64 {
        self.workers.get(worker).copied().unwrap_or_default()
    }

    pub(super) fn release(&mut self, lane: &LaneId, worker: &WorkerId, epoch: Epoch) {
        if let Some(lane) = self.lanes.get_mut(lane)
            && lane.epoch == epoch
            && lane.owner.as_ref() == Some(worker)
        {
            lane.owner = None;
        }
    }

    pub(super) fn beat(&mut self, worker: &WorkerId) {
        let beats = self.beats(worker).saturating_add(1);
        self.workers.insert(worker.clone(), beats);
    }
}
