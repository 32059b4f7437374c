//! Lanes that want to be driven.

use std::collections::BTreeSet;

use windlass_runtime::ports::{Look, SeenBeat, Wanting, WorkerId};

use super::world::{Lane, World};

impl World {
    pub(super) fn owners(&self) -> Vec<SeenBeat> {
        let owners: BTreeSet<&WorkerId> =
            self.lanes.values().filter_map(|l| l.owner.as_ref()).collect();
        let seen =
            |worker: &WorkerId| SeenBeat { beats: self.beats(worker), worker: worker.clone() };
        owners.into_iter().map(seen).collect()
    }

    pub(super) fn claimable(&self, look: &Look) -> Vec<Wanting> {
        let wants =
            |lane: &Lane| !lane.waiting.is_empty() || lane.wake_at.is_some_and(|at| at <= look.now);
        let wanting = self.lanes.iter().filter(|(_, lane)| wants(lane));
        let free = wanting.filter_map(|(id, lane)| {
            let owner = lane.owner.as_ref();
            let left_by = owner.map(|w| SeenBeat { beats: self.beats(w), worker: w.clone() });
            let dead = left_by.as_ref().is_none_or(|owner| look.dead.contains(owner));
            dead.then(|| Wanting { lane: id.clone(), left_by })
        });
        free.take(look.most).collect()
    }
}
