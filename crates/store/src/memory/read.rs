//! Reading lanes. A fork's log is its ancestors' entries up to where it left them, then its own.

use windlass_core::ids::{LaneId, Seq};
use windlass_runtime::ports::{EncodedEntry, LaneInfo, StoreError, Whose};

use super::world::{Lane, World};

impl World {
    pub(super) fn info(&self, lane: &LaneId) -> Option<LaneInfo> {
        self.lanes.get(lane).map(|found| LaneInfo {
            lane: lane.clone(),
            epoch: found.epoch,
            head: found.head,
            owner: found.owner.clone(),
            active_run: found.active_run.clone(),
            wake_at: found.wake_at,
            whose: Whose { tenant: found.tenant(), ..found.whose.clone() },
        })
    }

    pub(super) fn log(
        &self,
        lane: &LaneId,
        after: Seq,
        most: usize,
    ) -> Result<Vec<EncodedEntry>, StoreError> {
        let mut found = Vec::new();
        for (lane, upto) in self.ancestry(lane, after)?.into_iter().rev() {
            let wanted = |entry: &&EncodedEntry| entry.seq > after && entry.seq <= upto;
            let room = most.saturating_sub(found.len());
            found.extend(own(lane, after).filter(wanted).take(room).cloned());
        }
        Ok(found)
    }

    /// The lane and its ancestors, youngest first, each with the last entry that counts; it ends
    /// where everything older lies before `after`.
    fn ancestry(&self, lane: &LaneId, after: Seq) -> Result<Vec<(&Lane, Seq)>, StoreError> {
        let mut current = self.lane_ref(lane)?;
        let mut upto = Seq::MAX;
        let mut found = vec![(current, upto)];
        while let Some((parent, at)) = &current.parent
            && *at > after
        {
            current = self.lane_ref(parent)?;
            upto = upto.min(*at);
            found.push((current, upto));
        }
        Ok(found)
    }
}

/// The lane's own entries from about `after` on, without walking those before.
fn own(lane: &Lane, after: Seq) -> impl Iterator<Item = &EncodedEntry> {
    let inherited = lane.parent.as_ref().map_or(0, |(_, at)| *at);
    let skipped = usize::try_from(after.saturating_sub(inherited)).unwrap_or(usize::MAX);
    let from = skipped.min(lane.log.len());
    lane.log.focus().narrow(from..).into_iter()
}
