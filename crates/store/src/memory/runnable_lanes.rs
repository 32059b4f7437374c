//! Finding runnable lanes, and registering lanes and workers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_core::log::ids::{LaneId, UnixMillis};
use windlass_runtime::ports::{
    Affinity, ClaimQuery, ObservedHeartbeat, ServedWorkspace, WorkerId, WorkerInfo, WorkerScope,
};

use super::store_state::{LaneState, StoreState};

impl StoreState {
    pub(super) fn owner_heartbeats(&self) -> Vec<ObservedHeartbeat> {
        let owners: BTreeSet<&WorkerId> =
            self.lanes.values().filter_map(|l| l.owner.as_ref()).collect();
        let seen = |worker: &WorkerId| ObservedHeartbeat {
            heartbeats: self.heartbeat_count(worker),
            worker: worker.clone(),
        };
        owners.into_iter().map(seen).collect()
    }

    /// Returns runnable lanes, tenants in turn: one lane of each, then another of each.
    pub(super) fn runnable_lanes(&self, look: &ClaimQuery) -> Vec<LaneId> {
        let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
        let mut found: Vec<(usize, &LaneId)> = Vec::new();
        for (id, lane) in self.lanes.iter().filter(|(id, lane)| is_runnable(look, id, lane)) {
            let turn = taken.entry(&lane.affinity.tenant).or_default();
            found.push((*turn, id));
            *turn += 1;
        }
        found.sort_by_key(|(turn, _)| *turn);
        found.into_iter().map(|(_, id)| id.clone()).take(look.limit).collect()
    }

    pub(super) fn lanes_owned_by(&self, owner: &WorkerId) -> Vec<LaneId> {
        let owned = self.lanes.iter().filter(|(_, lane)| lane.owner.as_ref() == Some(owner));
        owned.map(|(id, _)| id.clone()).collect()
    }

    /// Returns lanes of `owner` with unread messages.
    pub(super) fn lanes_with_messages(&self, owner: &WorkerId) -> Vec<LaneId> {
        let owned = self.lanes.iter().filter(|(_, lane)| lane.owner.as_ref() == Some(owner));
        owned.filter(|(_, lane)| !lane.pending.is_empty()).map(|(id, _)| id.clone()).collect()
    }

    pub(super) fn register_lane(&mut self, lane: &LaneId, whose: &Affinity) {
        let new = || LaneState { affinity: whose.clone(), ..LaneState::default() };
        let lane = self.lanes.entry(lane.clone()).or_insert_with(new);
        if lane.affinity.workspace.is_empty() && !whose.workspace.is_empty() {
            lane.affinity.workspace = whose.workspace.clone();
            lane.affinity.folder = whose.folder.clone();
        }
    }

    /// Makes an unfinished run due at once.
    pub(super) fn wake(&mut self, lane: &LaneId) -> bool {
        let Some(lane) = self.lanes.get_mut(lane).filter(|lane| lane.active_run.is_some()) else {
            return false;
        };
        lane.wake_at = Some(UnixMillis(0));
        true
    }

    pub(super) fn announce_workspaces(&mut self, worker: &WorkerId, served: Vec<ServedWorkspace>) {
        self.served_workspaces.insert(worker.clone(), Arc::from(served));
    }

    /// Returns all workers that announced themselves: without a clock, silent ones cannot be left
    /// out.
    pub(super) fn workers(&self) -> Vec<WorkerInfo> {
        let info = |(worker, served): (&WorkerId, &Arc<[ServedWorkspace]>)| WorkerInfo {
            worker: worker.clone(),
            silent_ms: 0,
            workspaces: served.to_vec(),
        };
        self.served_workspaces.iter().map(info).collect()
    }
}

fn is_runnable(look: &ClaimQuery, id: &LaneId, lane: &LaneState) -> bool {
    let wants = !lane.pending.is_empty() || lane.wake_at.is_some_and(|at| at <= look.now);
    let free = lane.owner.is_none() && !look.exclude.contains(id);
    wants && free && is_in_scope(&look.scope, &lane.affinity)
}

fn is_in_scope(reach: &WorkerScope, whose: &Affinity) -> bool {
    let is = |name: &Arc<str>, known: &[Arc<str>]| name.is_empty() || known.contains(name);
    is(&whose.agent, &reach.agents) && is(&whose.workspace, &reach.workspaces)
}
