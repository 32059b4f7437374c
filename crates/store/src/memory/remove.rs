//! Removing a lane and the lanes of its sub-agents.

use windlass_core::child;
use windlass_core::ids::LaneId;
use windlass_core::mail::MailBody;
use windlass_runtime::ports::{Removed, SeenBeat, StoreError};

use super::world::{Lane, World};
use crate::valid::refusal;

impl World {
    pub(super) fn remove(&mut self, lane: &LaneId) -> Result<Removed, StoreError> {
        self.lane_ref(lane)?;
        let doomed: Vec<LaneId> = self
            .lanes
            .keys()
            .filter(|other| *other == lane || child::is_descendant(lane, other))
            .cloned()
            .collect();
        let mut removed = Removed::default();
        for lane in doomed {
            let found = self.lane_ref(&lane)?;
            self.check_rest(&lane, found)?;
            removed.entries += found.log.len() as u64;
            removed.lanes.push(lane);
        }
        removed.lanes.iter().for_each(|lane| {
            self.lanes.remove(lane);
        });
        self.runs =
            self.runs.iter().filter(|run| !removed.lanes.contains(&run.lane)).cloned().collect();
        let places = self.runs.iter().enumerate().map(|(place, run)| (run.run.clone(), place));
        self.run_places = places.collect();
        Ok(removed)
    }

    fn check_rest(&self, id: &LaneId, lane: &Lane) -> Result<(), StoreError> {
        if let Some(worker) = lane.owner.clone() {
            let owner = SeenBeat { beats: self.beats(&worker), worker };
            return Err(StoreError::Busy { lane: id.clone(), owner });
        }
        let is_queued = lane.waiting.values().any(|body| matches!(body, MailBody::Prompt { .. }));
        if lane.active_run.is_some() || is_queued {
            return Err(refusal::unfinished(id));
        }
        let fork = self
            .lanes
            .iter()
            .find(|(_, other)| other.parent.as_ref().is_some_and(|(parent, _)| parent == id));
        match fork {
            None => Ok(()),
            Some((fork, _)) => Err(refusal::has_forks(id, fork)),
        }
    }
}
