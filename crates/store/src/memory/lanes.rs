//! Claiming, forking and removing lanes; finding runnable lanes; releasing lanes of dead owners.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_core::log::ids::{Epoch, LaneId, RunId, Seq, UnixMillis};
use windlass_core::log::inbox::InboxCommand;
use windlass_core::projection::Row;
use windlass_core::run::child_runs;
use windlass_core::stop::RunState;
use windlass_runtime::ports::{
    AbandonedLane, Affinity, ClaimQuery, INBOX_PAGE_MESSAGES, LaneClaim, ObservedHeartbeat,
    ReconcileRequest, RemovedLanes, ServedWorkspace, StoreError, WorkerId, WorkerInfo, WorkerScope,
};

use super::store_state::{LaneState, StoreState};
use crate::validation::rejection;

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
        query: &ClaimQuery,
    ) -> Result<Vec<(LaneId, LaneClaim)>, StoreError> {
        let mut claims = Vec::new();
        for lane in self.runnable_lanes(query) {
            if self.may_be_driven(&lane) {
                claims.push((lane.clone(), self.claim(&lane, worker, None)?));
            }
        }
        Ok(claims)
    }

    fn owner_heartbeat(&self, lane: &LaneId) -> Result<Option<ObservedHeartbeat>, StoreError> {
        let owner = self.lane_ref(lane)?.owner.clone();
        Ok(owner
            .map(|worker| ObservedHeartbeat { heartbeats: self.heartbeat_count(&worker), worker }))
    }

    fn heartbeat_count(&self, worker: &WorkerId) -> u64 {
        self.heartbeats.get(worker).copied().unwrap_or_default()
    }

    pub(super) fn release(&mut self, lane: &LaneId, worker: &WorkerId, epoch: Epoch) {
        if let Some(lane) = self.lanes.get_mut(lane)
            && lane.epoch == epoch
            && lane.owner.as_ref() == Some(worker)
        {
            Arc::make_mut(lane).owner = None;
        }
    }

    pub(super) fn record_heartbeat(&mut self, worker: &WorkerId) {
        let heartbeats = self.heartbeat_count(worker).saturating_add(1);
        self.heartbeats.insert(worker.clone(), heartbeats);
    }
}

impl StoreState {
    pub(super) fn fork(
        &mut self,
        parent: &LaneId,
        at: Seq,
        child: &LaneId,
    ) -> Result<(), StoreError> {
        let (head, affinity) =
            (self.lane_ref(parent)?.head, self.lane_ref(parent)?.affinity.clone());
        if at > head {
            return Err(rejection::fork_beyond_head(parent, at, head));
        }
        let origin = Some((parent.clone(), at));
        match self.lanes.get(child) {
            Some(there) if there.parent == origin => Ok(()),
            Some(_) => Err(rejection::fork_exists(child)),
            None => {
                let lane = LaneState { affinity, parent: origin, head: at, ..LaneState::default() };
                self.lanes.insert(child.clone(), Arc::new(lane));
                Ok(())
            }
        }
    }
}

impl StoreState {
    pub(super) fn reconcile(&mut self, pass: &ReconcileRequest) -> Vec<AbandonedLane> {
        let dead = |lane: &LaneState| {
            let owner = lane.owner.as_ref();
            let seen = owner.map(|w| ObservedHeartbeat {
                heartbeats: self.heartbeat_count(w),
                worker: w.clone(),
            });
            seen.is_some_and(|seen| pass.dead.contains(&seen))
        };
        let lanes = self.lanes.iter().filter(|(_, lane)| dead(lane)).map(|(id, _)| id.clone());
        let lanes: Vec<LaneId> = lanes.take(pass.limit).collect();
        lanes.into_iter().map(|lane| self.release_dead_lane(lane, pass)).collect()
    }

    fn release_dead_lane(&mut self, id: LaneId, pass: &ReconcileRequest) -> AbandonedLane {
        let (at_work, resume_available) = self.interrupted_run(&id);
        let own = at_work.as_ref().and_then(|run| self.run_positions.get(run));
        let own = own.and_then(|index| self.runs.get(*index)?.description.resume);
        let is_offered = pass.resume.is_offered(own.unwrap_or_default());
        if let Some(run) = &at_work
            && let Some(index) = self.run_positions.get(run).copied()
            && let Some(info) = self.runs.get_mut(index)
        {
            let info = Arc::make_mut(info);
            info.state = RunState::TimedOut;
            info.resume_available = resume_available;
        }
        if let Some(lane) = self.lanes.get_mut(&id) {
            let lane = Arc::make_mut(lane);
            lane.owner = None;
            lane.epoch = lane.epoch.saturating_add(1);
            // A run that cannot be resumed automatically waits for a human, whatever the policy is.
            if at_work.is_some() && (is_offered || !resume_available) {
                lane.wake_at = None;
            }
        }
        AbandonedLane { lane: id, timed_out: at_work, resume_available }
    }

    /// Returns the run that was running on a lane, and whether it can be resumed from its last
    /// checkpoint.
    fn interrupted_run(&self, id: &LaneId) -> (Option<RunId>, bool) {
        let Some(lane) = self.find_lane(id) else { return (None, false) };
        let place = lane.occupied_by.as_ref().and_then(|run| self.run_positions.get(run));
        let info = place.and_then(|index| self.runs.get(*index));
        let Some(info) = info.filter(|info| info.state == RunState::Running) else {
            return (None, false);
        };
        let mut kinds = lane.rows().rev().filter_map(|row| match row {
            Row::Checkpoint(checkpoint) if checkpoint.run == info.run => Some(checkpoint.kind),
            _ => None,
        });
        let resumable = kinds.next().is_some_and(|kind| kind.is_resumable());
        (Some(info.run.clone()), resumable)
    }
}

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
    fn runnable_lanes(&self, query: &ClaimQuery) -> Vec<LaneId> {
        let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
        let mut found: Vec<(usize, &LaneId)> = Vec::new();
        for (id, lane) in self.lanes.iter().filter(|(id, lane)| is_runnable(query, id, lane)) {
            let turn = taken.entry(&lane.affinity.tenant).or_default();
            found.push((*turn, id));
            *turn += 1;
        }
        found.sort_by_key(|(turn, _)| *turn);
        found.into_iter().map(|(_, id)| id.clone()).take(query.limit).collect()
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

    pub(super) fn register_lane(&mut self, lane: &LaneId, affinity: &Affinity) {
        let lane = self.lane_or_new(lane, affinity);
        if lane.affinity.workspace.is_empty() && !affinity.workspace.is_empty() {
            lane.affinity.workspace = affinity.workspace.clone();
            lane.affinity.folder = affinity.folder.clone();
        }
    }

    /// Makes an unfinished run due at once.
    pub(super) fn wake(&mut self, lane: &LaneId) -> bool {
        let Some(lane) = self.lanes.get_mut(lane).filter(|lane| lane.active_run.is_some()) else {
            return false;
        };
        Arc::make_mut(lane).wake_at = Some(UnixMillis(0));
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

fn is_runnable(query: &ClaimQuery, id: &LaneId, lane: &LaneState) -> bool {
    let wants = !lane.pending.is_empty() || lane.wake_at.is_some_and(|at| at <= query.now);
    let free = lane.owner.is_none() && !query.exclude.contains(id);
    wants && free && is_in_scope(&query.scope, &lane.affinity)
}

fn is_in_scope(reach: &WorkerScope, affinity: &Affinity) -> bool {
    let is = |name: &Arc<str>, known: &[Arc<str>]| name.is_empty() || known.contains(name);
    is(&affinity.agent, &reach.agents) && is(&affinity.workspace, &reach.workspaces)
}

impl StoreState {
    pub(super) fn remove(&mut self, lane: &LaneId) -> Result<RemovedLanes, StoreError> {
        self.lane_ref(lane)?;
        let doomed: Vec<LaneId> = self
            .lanes
            .keys()
            .filter(|other| *other == lane || child_runs::is_descendant(lane, other))
            .cloned()
            .collect();
        let mut removed = RemovedLanes::default();
        for lane in doomed {
            let found = self.lane_ref(&lane)?;
            self.check_idle(&lane, found)?;
            removed.entries += found.log.len() as u64;
            removed.lanes.push(lane);
        }
        removed.lanes.iter().for_each(|lane| {
            self.lanes.remove(lane);
        });
        self.runs =
            self.runs.iter().filter(|run| !removed.lanes.contains(&run.lane)).cloned().collect();
        let places = self.runs.iter().enumerate().map(|(index, run)| (run.run.clone(), index));
        self.run_positions = places.collect();
        Ok(removed)
    }

    fn check_idle(&self, id: &LaneId, lane: &LaneState) -> Result<(), StoreError> {
        if let Some(worker) = lane.owner.clone() {
            let owner = ObservedHeartbeat { heartbeats: self.heartbeat_count(&worker), worker };
            return Err(StoreError::Busy { lane: id.clone(), owner });
        }
        let is_queued =
            lane.pending.values().any(|body| matches!(body, InboxCommand::Prompt { .. }));
        if lane.active_run.is_some() || is_queued {
            return Err(rejection::unfinished_run(id));
        }
        let fork = self
            .lanes
            .iter()
            .find(|(_, other)| other.parent.as_ref().is_some_and(|(parent, _)| parent == id));
        match fork {
            None => Ok(()),
            Some((fork, _)) => Err(rejection::has_forks(id, fork)),
        }
    }
}
