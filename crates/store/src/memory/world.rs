//! What is stored. Every collection shares structure with its copies: a snapshot of the whole
//! world costs a few counters, which is what makes atomic changes and crashes simple.

use std::sync::Arc;

use imbl::{OrdMap, Vector};
use windlass_core::budget::Spent;
use windlass_core::ids::{Epoch, LaneId, MailId, Millis, RunId, Seq};
use windlass_core::mail::MailBody;
use windlass_core::project::Row;
use windlass_runtime::ports::{
    EncodedEntry, NumberedWorkerEvent, RunInfo, ServedWorkspace, SpendingAccount, StoreError,
    Whose, WorkerId,
};

#[derive(Debug, Clone, Default)]
pub(super) struct World {
    pub(super) lanes: OrdMap<LaneId, Lane>,
    /// Beats of each worker.
    pub(super) workers: OrdMap<WorkerId, u64>,
    /// What those serve that announced themselves.
    pub(super) served: OrdMap<WorkerId, Arc<[ServedWorkspace]>>,
    /// In the order they first appeared.
    pub(super) runs: Vector<RunInfo>,
    /// Where each of them stands in `runs`.
    pub(super) run_places: OrdMap<RunId, usize>,
    /// What accounts have spent and set aside.
    pub(super) spending: OrdMap<SpendingAccount, Spent>,
    /// Oldest first.
    pub(super) worker_events: Vector<NumberedWorkerEvent>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Lane {
    pub(super) whose: Whose,
    pub(super) epoch: Epoch,
    pub(super) owner: Option<WorkerId>,
    pub(super) head: Seq,
    pub(super) active_run: Option<RunId>,
    /// The run whose row says that it occupies the lane.
    pub(super) occupied_by: Option<RunId>,
    pub(super) wake_at: Option<Millis>,
    /// The lane it continues, and the last entry they share.
    pub(super) parent: Option<(LaneId, Seq)>,
    /// Its own entries, without the parent's.
    pub(super) log: Vector<EncodedEntry>,
    /// Every key ever accepted.
    pub(super) keys: OrdMap<Arc<str>, MailId>,
    /// Mail that no entry has read yet.
    pub(super) waiting: OrdMap<MailId, MailBody>,
    /// What each append brought.
    pub(super) rows: Vector<Arc<[Row]>>,
}

impl Lane {
    /// The rows of all appends, oldest first.
    pub(super) fn rows(&self) -> impl DoubleEndedIterator<Item = &Row> {
        self.rows.iter().flat_map(|rows| rows.iter())
    }

    pub(super) fn tenant(&self) -> Arc<str> {
        if self.whose.tenant.is_empty() { Arc::from("default") } else { self.whose.tenant.clone() }
    }
}

impl World {
    pub(super) fn lane_mut(&mut self, lane: &LaneId) -> Result<&mut Lane, StoreError> {
        self.lanes.get_mut(lane).ok_or_else(|| no_lane(lane))
    }

    pub(super) fn lane_ref(&self, lane: &LaneId) -> Result<&Lane, StoreError> {
        self.lanes.get(lane).ok_or_else(|| no_lane(lane))
    }
}

fn no_lane(lane: &LaneId) -> StoreError {
    StoreError::NoLane { lane: lane.clone() }
}
