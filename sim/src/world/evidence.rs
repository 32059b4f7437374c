//! The evidence of a world that has ended: the stored lines, the rows, and the observation log.

use windlass_core::log::ids::LaneId;
use windlass_core::log::inbox::InboxMessage;
use windlass_runtime::ports::{EncodedEntry, RunInfo, Store};

use super::observation_log::Observations;
use super::shared::SharedWorld;
use super::world_plan::UserBehaviour;

/// The evidence of a world.
pub(crate) struct Evidence {
    pub(crate) rested: bool,
    pub(crate) honest_usage: bool,
    pub(crate) people: UserBehaviour,
    pub(crate) lanes: Vec<LaneEvidence>,
    pub(crate) seen: Observations,
    pub(crate) schedule: Vec<String>,
}

/// The evidence of a lane.
pub(crate) struct LaneEvidence {
    pub(crate) lane: LaneId,
    pub(crate) lines: Vec<EncodedEntry>,
    pub(crate) waiting: Vec<InboxMessage>,
    pub(crate) runs: Vec<RunInfo>,
}

impl Evidence {
    pub(crate) async fn gather(shared: &SharedWorld, rested: bool) -> Self {
        let mut lanes = Vec::new();
        for lane in shared.lanes() {
            if let Ok(Some(_)) = shared.disk.lane_info(lane.clone()).await {
                lanes.push(of_lane(shared, lane).await);
            }
        }
        Self {
            rested,
            honest_usage: shared.plan.model.honest_usage,
            people: shared.plan.people,
            lanes,
            seen: shared.observations.take(),
            schedule: shared.plan.schedule(),
        }
    }
}

async fn of_lane(shared: &SharedWorld, lane: LaneId) -> LaneEvidence {
    let disk = &shared.disk;
    LaneEvidence {
        lines: disk.read_log(lane.clone(), 0, usize::MAX).await.unwrap_or_default(),
        waiting: disk.read_inbox(lane.clone(), usize::MAX).await.unwrap_or_default(),
        runs: disk.list_runs(Some(lane.clone()), usize::MAX).await.unwrap_or_default(),
        lane,
    }
}
