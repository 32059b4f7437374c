//! Reconciling lanes of dead owners.

use windlass_core::log::ids::{LaneId, RunId};
use windlass_core::projection::Row;
use windlass_core::stop::RunState;
use windlass_runtime::ports::{AbandonedLane, ObservedHeartbeat, ReconcileRequest};

use super::store_state::{LaneState, StoreState};

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
        let own = own.and_then(|place| self.runs.get(*place)?.description.resume);
        let is_offered = pass.resume.is_offered(own.unwrap_or_default());
        if let Some(run) = &at_work
            && let Some(place) = self.run_positions.get(run).copied()
            && let Some(info) = self.runs.get_mut(place)
        {
            info.state = RunState::TimedOut;
            info.resume_available = resume_available;
        }
        if let Some(lane) = self.lanes.get_mut(&id) {
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
        let Some(lane) = self.lanes.get(id) else { return (None, false) };
        let place = lane.occupied_by.as_ref().and_then(|run| self.run_positions.get(run));
        let info = place.and_then(|place| self.runs.get(*place));
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
