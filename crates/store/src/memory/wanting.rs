//! Lanes that want to be driven.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_core::ids::{LaneId, Millis};
use windlass_runtime::ports::{
    Look, Reach, SeenBeat, ServedWorkspace, Whose, WorkerId, WorkerInfo,
};

use super::world::{Lane, World};

impl World {
    pub(super) fn owners(&self) -> Vec<SeenBeat> {
        let owners: BTreeSet<&WorkerId> =
            self.lanes.values().filter_map(|l| l.owner.as_ref()).collect();
        let seen =
            |worker: &WorkerId| SeenBeat { beats: self.beats(worker), worker: worker.clone() };
        owners.into_iter().map(seen).collect()
    }

    /// One lane of each tenant, then another of each.
    pub(super) fn wanting(&self, look: &Look) -> Vec<LaneId> {
        let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
        let mut found: Vec<(usize, &LaneId)> = Vec::new();
        for (id, lane) in self.lanes.iter().filter(|(id, lane)| is_wanting(look, id, lane)) {
            let turn = taken.entry(&lane.whose.tenant).or_default();
            found.push((*turn, id));
            *turn += 1;
        }
        found.sort_by_key(|(turn, _)| *turn);
        found.into_iter().map(|(_, id)| id.clone()).take(look.most).collect()
    }

    pub(super) fn owned(&self, owner: &WorkerId) -> Vec<LaneId> {
        let owned = self.lanes.iter().filter(|(_, lane)| lane.owner.as_ref() == Some(owner));
        owned.map(|(id, _)| id.clone()).collect()
    }

    /// Lanes of `owner` in which mail lies.
    pub(super) fn mailed(&self, owner: &WorkerId) -> Vec<LaneId> {
        let owned = self.lanes.iter().filter(|(_, lane)| lane.owner.as_ref() == Some(owner));
        owned.filter(|(_, lane)| !lane.waiting.is_empty()).map(|(id, _)| id.clone()).collect()
    }

    pub(super) fn introduce(&mut self, lane: &LaneId, whose: &Whose) {
        let new = || Lane { whose: whose.clone(), ..Lane::default() };
        let lane = self.lanes.entry(lane.clone()).or_insert_with(new);
        if lane.whose.affinity.is_empty() && !whose.affinity.is_empty() {
            lane.whose.affinity = whose.affinity.clone();
            lane.whose.folder = whose.folder.clone();
        }
    }

    /// Makes an unfinished run due at once.
    pub(super) fn wake(&mut self, lane: &LaneId) -> bool {
        let Some(lane) = self.lanes.get_mut(lane).filter(|lane| lane.active_run.is_some()) else {
            return false;
        };
        lane.wake_at = Some(Millis(0));
        true
    }

    pub(super) fn announce(&mut self, worker: &WorkerId, served: Vec<ServedWorkspace>) {
        self.served.insert(worker.clone(), Arc::from(served));
    }

    /// All that announced themselves: there is no clock to tell who is silent.
    pub(super) fn workers(&self) -> Vec<WorkerInfo> {
        let info = |(worker, served): (&WorkerId, &Arc<[ServedWorkspace]>)| WorkerInfo {
            worker: worker.clone(),
            silent_ms: 0,
            workspaces: served.to_vec(),
        };
        self.served.iter().map(info).collect()
    }
}

fn is_wanting(look: &Look, id: &LaneId, lane: &Lane) -> bool {
    let wants = !lane.waiting.is_empty() || lane.wake_at.is_some_and(|at| at <= look.now);
    let free = lane.owner.is_none() && !look.except.contains(id);
    wants && free && is_within(&look.reach, &lane.whose)
}

fn is_within(reach: &Reach, whose: &Whose) -> bool {
    let is = |name: &Arc<str>, known: &[Arc<str>]| name.is_empty() || known.contains(name);
    is(&whose.agent, &reach.agents) && is(&whose.affinity, &reach.affinities)
}
