//! What is left when a world has ended: the stored lines, the rows, and what the witness saw.

use windlass_core::ids::LaneId;
use windlass_core::mail::Mail;
use windlass_runtime::ports::{EncodedEntry, RunInfo, Store};

use super::plan::PeopleMood;
use super::shared::Shared;
use super::witness::Seen;

/// What is left of a world.
pub(crate) struct Evidence {
    pub(crate) rested: bool,
    pub(crate) honest_usage: bool,
    pub(crate) people: PeopleMood,
    pub(crate) lanes: Vec<LaneEvidence>,
    pub(crate) seen: Seen,
    pub(crate) schedule: Vec<String>,
}

/// What is left of a lane.
pub(crate) struct LaneEvidence {
    pub(crate) lane: LaneId,
    pub(crate) lines: Vec<EncodedEntry>,
    pub(crate) waiting: Vec<Mail>,
    pub(crate) runs: Vec<RunInfo>,
}

impl Evidence {
    pub(crate) async fn gather(shared: &Shared, rested: bool) -> Self {
        let mut lanes = Vec::new();
        for lane in shared.lanes() {
            if let Ok(Some(_)) = shared.disk.lane(lane.clone()).await {
                lanes.push(of_lane(shared, lane).await);
            }
        }
        Self {
            rested,
            honest_usage: shared.plan.model.honest_usage,
            people: shared.plan.people,
            lanes,
            seen: shared.witness.take(),
            schedule: shared.plan.schedule(),
        }
    }
}

async fn of_lane(shared: &Shared, lane: LaneId) -> LaneEvidence {
    let disk = &shared.disk;
    LaneEvidence {
        lines: disk.read_log(lane.clone(), 0, usize::MAX).await.unwrap_or_default(),
        waiting: disk.read_mail(lane.clone(), usize::MAX).await.unwrap_or_default(),
        runs: disk.runs(Some(lane.clone()), usize::MAX).await.unwrap_or_default(),
        lane,
    }
}
