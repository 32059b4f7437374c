//! The state of the store, in persistent data structures that share structure with their copies: a
//! snapshot of the whole state costs a few counters, which makes atomic changes and crashes simple.

use std::sync::Arc;

use imbl::{OrdMap, Vector};
use windlass_core::budget::spending::Spending;
use windlass_core::log::ids::{Epoch, InboxMessageId, LaneId, RunId, Seq, UnixMillis};
use windlass_core::log::inbox::InboxCommand;
use windlass_core::projection::Row;
use windlass_runtime::ports::{
    Affinity, EncodedEntry, NumberedWorkerEvent, RunInfo, ServedWorkspace, SpendingAccount,
    StoreError, WorkerId,
};

#[derive(Debug, Clone, Default)]
pub(super) struct StoreState {
    pub(super) lanes: OrdMap<LaneId, LaneState>,
    /// Heartbeats of each worker.
    pub(super) heartbeats: OrdMap<WorkerId, u64>,
    /// Workspaces served by the workers that announced themselves.
    pub(super) served_workspaces: OrdMap<WorkerId, Arc<[ServedWorkspace]>>,
    /// All runs, in the order they first appeared.
    pub(super) runs: Vector<RunInfo>,
    /// The index of each run in `runs`.
    pub(super) run_positions: OrdMap<RunId, usize>,
    /// What accounts have spent and reserved.
    pub(super) spending: OrdMap<SpendingAccount, Spending>,
    /// Worker events, oldest first.
    pub(super) worker_events: Vector<NumberedWorkerEvent>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct LaneState {
    pub(super) affinity: Affinity,
    pub(super) epoch: Epoch,
    pub(super) owner: Option<WorkerId>,
    pub(super) head: Seq,
    pub(super) active_run: Option<RunId>,
    /// The run that occupies the lane, according to its row.
    pub(super) occupied_by: Option<RunId>,
    pub(super) wake_at: Option<UnixMillis>,
    /// The parent lane of a fork, and the last entry they share.
    pub(super) parent: Option<(LaneId, Seq)>,
    /// The lane's own entries, without the parent's.
    pub(super) log: Vector<EncodedEntry>,
    /// Every idempotency key ever accepted.
    pub(super) message_keys: OrdMap<Arc<str>, InboxMessageId>,
    /// Messages that no entry has read yet.
    pub(super) pending: OrdMap<InboxMessageId, InboxCommand>,
    /// The rows of each append.
    pub(super) rows: Vector<Arc<[Row]>>,
}

impl LaneState {
    /// Returns the rows of all appends, oldest first.
    pub(super) fn rows(&self) -> impl DoubleEndedIterator<Item = &Row> {
        self.rows.iter().flat_map(|rows| rows.iter())
    }

    pub(super) fn tenant(&self) -> Arc<str> {
        if self.affinity.tenant.is_empty() {
            Arc::from("default")
        } else {
            self.affinity.tenant.clone()
        }
    }
}

impl StoreState {
    pub(super) fn lane_mut(&mut self, lane: &LaneId) -> Result<&mut LaneState, StoreError> {
        self.lanes.get_mut(lane).ok_or_else(|| no_lane_error(lane))
    }

    pub(super) fn lane_ref(&self, lane: &LaneId) -> Result<&LaneState, StoreError> {
        self.lanes.get(lane).ok_or_else(|| no_lane_error(lane))
    }
}

fn no_lane_error(lane: &LaneId) -> StoreError {
    StoreError::LaneNotFound { lane: lane.clone() }
}
