//! The state of the store, in persistent data structures that share structure with their copies: a
//! snapshot of the whole state costs a few counters, which makes atomic changes and crashes simple.

use std::sync::Arc;

use imbl::{OrdMap, Vector};
use windlass_core::budget::spending::Spending;
use windlass_core::log::ids::{Epoch, InboxMessageId, LaneId, RunId, Seq, UnixMillis};
use windlass_core::log::inbox::InboxCommand;
use windlass_core::projection::Row;
use windlass_runtime::ports::{
    Affinity, Document, EncodedEntry, NumberedWorkerEvent, RunInfo, ServedWorkspace,
    SpendingAccount, StoreError, TenantLimits, WorkerId,
};

/// Every commit changes a copy of the state. A node of a persistent structure holds up to 64 values
/// and is copied as a whole, so large values are behind a pointer.
#[derive(Debug, Clone, Default)]
pub(super) struct StoreState {
    pub(super) lanes: OrdMap<LaneId, Arc<LaneState>>,
    /// Heartbeats of each worker.
    pub(super) heartbeats: OrdMap<WorkerId, u64>,
    /// Workspaces served by the workers that announced themselves.
    pub(super) served_workspaces: OrdMap<WorkerId, Arc<[ServedWorkspace]>>,
    /// All runs, in the order they first appeared.
    pub(super) runs: Vector<Arc<RunInfo>>,
    /// The index of each run in `runs`.
    pub(super) run_positions: OrdMap<RunId, usize>,
    /// What accounts have spent and reserved.
    pub(super) spending: OrdMap<SpendingAccount, Spending>,
    /// Worker events, oldest first.
    pub(super) worker_events: Vector<NumberedWorkerEvent>,
    /// Documents by kind and key.
    pub(super) documents: OrdMap<(Arc<str>, Arc<str>), Arc<Document>>,
    /// What tenants may use.
    pub(super) tenant_limits: OrdMap<Arc<str>, TenantLimits>,
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
        self.lanes.get_mut(lane).map(Arc::make_mut).ok_or_else(|| no_lane_error(lane))
    }

    pub(super) fn lane_ref(&self, lane: &LaneId) -> Result<&LaneState, StoreError> {
        self.find_lane(lane).ok_or_else(|| no_lane_error(lane))
    }

    pub(super) fn find_lane(&self, lane: &LaneId) -> Option<&LaneState> {
        self.lanes.get(lane).map(Arc::as_ref)
    }

    /// Returns a lane to change it; a new one gets this affinity.
    pub(super) fn lane_or_new(&mut self, lane: &LaneId, affinity: &Affinity) -> &mut LaneState {
        let new = || LaneState { affinity: affinity.clone(), ..LaneState::default() };
        Arc::make_mut(self.lanes.entry(lane.clone()).or_insert_with(|| Arc::new(new())))
    }
}

fn no_lane_error(lane: &LaneId) -> StoreError {
    StoreError::LaneNotFound { lane: lane.clone() }
}
