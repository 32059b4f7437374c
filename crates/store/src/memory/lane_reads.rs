//! Reading lanes. A fork's log is its ancestors' entries up to the fork, then its own.

use windlass_core::log::ids::{LaneId, Seq};
use windlass_runtime::ports::{Affinity, EncodedEntry, LaneInfo, StoreError};

use super::store_state::{LaneState, StoreState};

impl StoreState {
    pub(super) fn lane_info(&self, lane: &LaneId) -> Option<LaneInfo> {
        self.lanes.get(lane).map(|found| LaneInfo {
            lane: lane.clone(),
            epoch: found.epoch,
            head: found.head,
            owner: found.owner.clone(),
            active_run: found.active_run.clone(),
            wake_at: found.wake_at,
            affinity: Affinity { tenant: found.tenant(), ..found.affinity.clone() },
        })
    }

    pub(super) fn read_log(
        &self,
        lane: &LaneId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<EncodedEntry>, StoreError> {
        let mut found = Vec::new();
        for (lane, upto) in self.log_segments(lane, after)?.into_iter().rev() {
            let wanted = |entry: &&EncodedEntry| entry.seq > after && entry.seq <= upto;
            let remaining = limit.saturating_sub(found.len());
            found.extend(own_entries(lane, after).filter(wanted).take(remaining).cloned());
        }
        Ok(found)
    }

    /// Returns the lane and its ancestors, youngest first, each with the last entry that counts;
    /// stops once all older entries lie before `after`.
    fn log_segments(
        &self,
        lane: &LaneId,
        after: Seq,
    ) -> Result<Vec<(&LaneState, Seq)>, StoreError> {
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

/// Returns the lane's own entries from about `after` on, without iterating over those before.
fn own_entries(lane: &LaneState, after: Seq) -> impl Iterator<Item = &EncodedEntry> {
    let inherited = lane.parent.as_ref().map_or(0, |(_, at)| *at);
    let skipped = usize::try_from(after.saturating_sub(inherited)).unwrap_or(usize::MAX);
    let from = skipped.min(lane.log.len());
    lane.log.focus().narrow(from..).into_iter()
}
