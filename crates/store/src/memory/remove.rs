//! Removing a lane and the lanes of its sub-agents.

use windlass_core::log::ids::LaneId;
use windlass_core::log::inbox::InboxCommand;
use windlass_core::run::child_runs;
use windlass_runtime::ports::{ObservedHeartbeat, RemovedLanes, StoreError};

use super::store_state::{LaneState, StoreState};
use crate::validation::rejection;

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
        let places = self.runs.iter().enumerate().map(|(place, run)| (run.run.clone(), place));
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
