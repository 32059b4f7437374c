//! In-memory store: the reference model for conformance and simulation, with a simulated disk that
//! can lose power and appends that fail on purpose. No threads and no clock, so a simulation
//! repeats exactly.

mod documents;
mod fenced_append;
mod inbox;
mod lane_reads;
mod lanes;
mod rows;
mod simulated_disk;
mod statistics;
mod store_state;

pub use simulated_disk::{AppendFault, CrashSurvival, OperationHook, StoreOperation};

use std::sync::{Arc, Mutex, MutexGuard};

use windlass_core::budget::spending::Spending;
use windlass_core::log::ids::{Epoch, LaneId, Seq, UnixMillis};
use windlass_core::log::inbox::InboxMessage;
use windlass_core::log::record::Durability;
use windlass_core::projection::{RawRow, Row};
use windlass_runtime::ports::{
    AbandonedLane, Affinity, AppendRequest, BoxFuture, ClaimQuery, DeletedRows, Document,
    DocumentQuery, EncodedEntry, EnqueuedMessage, EventCount, LaneClaim, LaneInfo, LimitedTenant,
    NumberedWorkerEvent, ObservedHeartbeat, OutboxMessage, ReconcileRequest, RemovedLanes,
    RetentionCutoffs, RunCount, RunInfo, RunTraceEnd, ServedWorkspace, SpendingAccount, Store,
    StoreError, TenantLimits, ToolStats, WorkerEvent, WorkerEventPage, WorkerId, WorkerInfo,
    WriteCondition,
};

use crate::inbox_hints::InboxHints;
use crate::validation;
use simulated_disk::SimulatedDisk;
use store_state::StoreState;

/// A store in memory, without persistence.
#[derive(Default)]
pub struct MemoryStore {
    disk: Mutex<SimulatedDisk>,
    hook: Option<OperationHook>,
    hints: InboxHints,
}

impl MemoryStore {
    /// Returns an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns an empty store that records every commit since the last sync, so that a crash may
    /// keep any number of them.
    #[must_use]
    pub fn with_commit_history() -> Self {
        Self { disk: Mutex::new(SimulatedDisk::with_commit_history()), ..Self::default() }
    }

    /// Awaits `hook` before every operation, to simulate a slow disk or to crash at that operation.
    #[must_use]
    pub fn with_hook(mut self, hook: OperationHook) -> Self {
        self.hook = Some(hook);
        self
    }

    /// Loses what a crashed process or a power cut would lose.
    pub fn crash(&self, keep: CrashSurvival) {
        self.lock_disk().crash(keep);
    }

    /// Returns how many commits a power cut could lose.
    #[must_use]
    pub fn unsynced_commits(&self) -> usize {
        self.lock_disk().unsynced_commits()
    }

    /// Makes the next append fail; several faults are used up in order.
    pub fn fail_next_append(&self, fault: AppendFault) {
        self.lock_disk().queue_fault(fault);
    }

    /// Makes the next claim of runnable lanes take effect although it returns an error.
    pub fn lose_next_claim_response(&self) {
        self.lock_disk().lose_next_claim_response();
    }

    /// Makes the next claim of a lane by its name return success without taking effect: the store's
    /// machine crashed before the claim was on its disk.
    pub fn forget_next_claim(&self) {
        self.lock_disk().forget_next_claim();
    }

    /// Returns whether the worker owns the lane with this epoch.
    #[must_use]
    pub fn is_claim_valid(&self, lane: &LaneId, worker: &WorkerId, epoch: Epoch) -> bool {
        self.lock_disk().now.lane_info(lane).is_some_and(|lane| lane.is_owned_by(worker, epoch))
    }

    /// Returns the rows written with a lane's entries, oldest first.
    #[must_use]
    pub fn rows(&self, lane: &LaneId) -> Vec<Row> {
        self.lock_disk().now.rows(lane)
    }

    fn lock_disk(&self) -> MutexGuard<'_, SimulatedDisk> {
        crate::lock_ignoring_poison(&self.disk)
    }

    async fn before_operation(&self, operation: StoreOperation) {
        if let Some(hook) = &self.hook {
            hook(operation).await;
        }
    }

    async fn read_state<T>(&self, query: impl FnOnce(&StoreState) -> T) -> T {
        self.before_operation(StoreOperation::Read).await;
        query(&self.lock_disk().now)
    }
}

impl Store for MemoryStore {
    fn enqueue_message(
        &self,
        lane: LaneId,
        message: OutboxMessage,
    ) -> BoxFuture<'_, Result<EnqueuedMessage, StoreError>> {
        Box::pin(async move {
            validation::validate_lane(&lane)?;
            validation::validate_message(&message)?;
            self.before_operation(StoreOperation::EnqueueMessage).await;
            let change = |world: &mut StoreState| {
                Ok(world.enqueue_message(&lane, &message, &Affinity::default()))
            };
            let message = self.lock_disk().commit(Durability::Barrier, change)?;
            self.hints.notify_lane(&lane);
            Ok(EnqueuedMessage { message })
        })
    }

    fn claim_lane(
        &self,
        lane: LaneId,
        worker: WorkerId,
        dead: Option<ObservedHeartbeat>,
    ) -> BoxFuture<'_, Result<LaneClaim, StoreError>> {
        Box::pin(async move {
            validation::validate_lane(&lane)?;
            validation::validate_worker(&worker)?;
            self.before_operation(StoreOperation::Claim).await;
            self.lock_disk()
                .claim(|world: &mut StoreState| world.claim(&lane, &worker, dead.as_ref()))
        })
    }

    fn release_lane(
        &self,
        lane: LaneId,
        worker: WorkerId,
        epoch: Epoch,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.before_operation(StoreOperation::Release).await;
            let change = |world: &mut StoreState| {
                world.release(&lane, &worker, epoch);
                Ok(())
            };
            self.lock_disk().commit(Durability::Commit, change)
        })
    }

    fn record_heartbeat(&self, worker: WorkerId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            validation::validate_worker(&worker)?;
            self.before_operation(StoreOperation::Heartbeat).await;
            let change = |world: &mut StoreState| {
                world.record_heartbeat(&worker);
                Ok(())
            };
            self.lock_disk().commit(Durability::Commit, change)
        })
    }

    fn append(&self, append: AppendRequest) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            validation::validate_append(&append)?;
            self.before_operation(StoreOperation::Append).await;
            self.lock_disk().append(&append)?;
            append.outbox.iter().for_each(|(to, _)| self.hints.notify_lane(to));
            Ok(())
        })
    }

    fn read_log(
        &self,
        lane: LaneId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<EncodedEntry>, StoreError>> {
        Box::pin(async move { self.read_state(|world| world.read_log(&lane, after, limit)).await })
    }

    fn read_inbox(
        &self,
        lane: LaneId,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<InboxMessage>, StoreError>> {
        Box::pin(async move { self.read_state(|world| world.pending_messages(&lane, limit)).await })
    }

    fn fork_lane(
        &self,
        parent: LaneId,
        at: Seq,
        child: LaneId,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            validation::validate_lane(&child)?;
            self.before_operation(StoreOperation::Fork).await;
            let change = |world: &mut StoreState| world.fork(&parent, at, &child);
            self.lock_disk().commit(Durability::Barrier, change)
        })
    }

    fn wait_for_message(&self, lane: LaneId) -> BoxFuture<'_, ()> {
        Box::pin(self.hints.wait_for_lane(lane))
    }

    fn wait_for_any_message(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.hints.wait_for_any())
    }

    fn hint_unread_messages(&self, owner: WorkerId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let lanes = self.read_state(|world| world.lanes_with_messages(&owner)).await;
            lanes.iter().for_each(|lane| self.hints.notify_if_waiting(lane));
            Ok(())
        })
    }

    fn register_lane(
        &self,
        lane: LaneId,
        affinity: Affinity,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            validation::validate_lane(&lane)?;
            validation::validate_affinity(&affinity)?;
            self.before_operation(StoreOperation::RegisterLane).await;
            let change = |world: &mut StoreState| {
                world.register_lane(&lane, &affinity);
                Ok(())
            };
            self.lock_disk().commit(Durability::Commit, change)
        })
    }

    fn reconcile_dead_owners(
        &self,
        pass: ReconcileRequest,
    ) -> BoxFuture<'_, Result<Vec<AbandonedLane>, StoreError>> {
        Box::pin(async move {
            self.before_operation(StoreOperation::Reconcile).await;
            self.lock_disk()
                .commit(Durability::Commit, |world: &mut StoreState| Ok(world.reconcile(&pass)))
        })
    }

    fn forget_old_rows(
        &self,
        forget: RetentionCutoffs,
    ) -> BoxFuture<'_, Result<DeletedRows, StoreError>> {
        Box::pin(async move {
            self.before_operation(StoreOperation::Reconcile).await;
            self.lock_disk()
                .commit(Durability::Commit, |world: &mut StoreState| Ok(world.forget(&forget)))
        })
    }

    fn owner_heartbeats(&self) -> BoxFuture<'_, Result<Vec<ObservedHeartbeat>, StoreError>> {
        Box::pin(async move { Ok(self.read_state(StoreState::owner_heartbeats).await) })
    }

    fn claim_runnable_lanes(
        &self,
        worker: WorkerId,
        query: ClaimQuery,
    ) -> BoxFuture<'_, Result<Vec<(LaneId, LaneClaim)>, StoreError>> {
        Box::pin(async move {
            validation::validate_worker(&worker)?;
            self.before_operation(StoreOperation::Claim).await;
            self.lock_disk()
                .claim_runnable(|world: &mut StoreState| world.claim_runnable(&worker, &query))
        })
    }

    fn lanes_owned_by(&self, owner: WorkerId) -> BoxFuture<'_, Result<Vec<LaneId>, StoreError>> {
        Box::pin(async move { Ok(self.read_state(|world| world.lanes_owned_by(&owner)).await) })
    }

    fn announce_workspaces(
        &self,
        worker: WorkerId,
        workspaces: Vec<ServedWorkspace>,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.before_operation(StoreOperation::RegisterLane).await;
            let change = |world: &mut StoreState| {
                world.announce_workspaces(&worker, workspaces);
                Ok(())
            };
            self.lock_disk().commit(Durability::Commit, change)
        })
    }

    fn list_workers(&self) -> BoxFuture<'_, Result<Vec<WorkerInfo>, StoreError>> {
        Box::pin(async move { Ok(self.read_state(StoreState::workers).await) })
    }

    fn wake_lane(&self, lane: LaneId) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            self.before_operation(StoreOperation::RegisterLane).await;
            let woken = self
                .lock_disk()
                .commit(Durability::Barrier, |world: &mut StoreState| Ok(world.wake(&lane)))?;
            self.hints.notify_lane(&lane);
            Ok(woken)
        })
    }

    fn remove_lane(&self, lane: LaneId) -> BoxFuture<'_, Result<RemovedLanes, StoreError>> {
        Box::pin(async move {
            self.before_operation(StoreOperation::RegisterLane).await;
            self.lock_disk()
                .commit(Durability::Barrier, |world: &mut StoreState| world.remove(&lane))
        })
    }

    fn lane_info(&self, lane: LaneId) -> BoxFuture<'_, Result<Option<LaneInfo>, StoreError>> {
        Box::pin(async move { Ok(self.read_state(|world| world.lane_info(&lane)).await) })
    }

    fn list_runs(
        &self,
        lane: Option<LaneId>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<RunInfo>, StoreError>> {
        Box::pin(async move { Ok(self.read_state(|world| world.runs(lane.as_ref(), limit)).await) })
    }

    fn list_trace_ends(
        &self,
        since: UnixMillis,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<RunTraceEnd>, StoreError>> {
        Box::pin(async move { Ok(self.read_state(|world| world.trace_ends(since, limit)).await) })
    }

    fn read_raw_responses(
        &self,
        lane: LaneId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<RawRow>, StoreError>> {
        Box::pin(async move {
            Ok(self.read_state(|world| world.raw_responses(&lane, after, limit)).await)
        })
    }

    fn spending(&self, account: SpendingAccount) -> BoxFuture<'_, Result<Spending, StoreError>> {
        Box::pin(async move { Ok(self.read_state(|world| world.spending_of(&account)).await) })
    }

    fn tool_stats(&self, since: UnixMillis) -> BoxFuture<'_, Result<Vec<ToolStats>, StoreError>> {
        Box::pin(async move { Ok(self.read_state(|world| world.tool_stats(since)).await) })
    }

    fn event_counts(
        &self,
        since: UnixMillis,
    ) -> BoxFuture<'_, Result<Vec<EventCount>, StoreError>> {
        Box::pin(async move { Ok(self.read_state(|world| world.event_counts(since)).await) })
    }

    fn record_worker_event(&self, event: WorkerEvent) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            validation::validate_worker(&event.worker)?;
            self.before_operation(StoreOperation::Reconcile).await;
            let change = |world: &mut StoreState| {
                world.record_worker_event(event);
                Ok(())
            };
            self.lock_disk().commit(Durability::Commit, change)
        })
    }

    fn worker_events(
        &self,
        page: WorkerEventPage,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<NumberedWorkerEvent>, StoreError>> {
        Box::pin(async move { Ok(self.read_state(|world| world.worker_events(page, limit)).await) })
    }
    fn enqueue_prompt(
        &self,
        lane: LaneId,
        affinity: Affinity,
        message: OutboxMessage,
    ) -> BoxFuture<'_, Result<EnqueuedMessage, StoreError>> {
        Box::pin(async move {
            validation::validate_lane(&lane)?;
            validation::validate_affinity(&affinity)?;
            validation::validate_message(&message)?;
            self.before_operation(StoreOperation::EnqueueMessage).await;
            let change = |world: &mut StoreState| world.enqueue_prompt(&lane, &affinity, &message);
            let message = self.lock_disk().commit(Durability::Barrier, change)?;
            self.hints.notify_lane(&lane);
            Ok(EnqueuedMessage { message })
        })
    }

    fn set_tenant_limits(
        &self,
        tenant: Arc<str>,
        limits: TenantLimits,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            validation::validate_tenant(&tenant)?;
            let change = |world: &mut StoreState| {
                world.tenant_limits.insert(tenant, limits);
                Ok(())
            };
            self.lock_disk().commit(Durability::Barrier, change)
        })
    }

    fn tenant_limits(&self) -> BoxFuture<'_, Result<Vec<LimitedTenant>, StoreError>> {
        Box::pin(async move {
            let copy = |(tenant, limits): (&Arc<str>, &TenantLimits)| (tenant.clone(), *limits);
            Ok(self.read_state(|world| world.tenant_limits.iter().map(copy).collect()).await)
        })
    }

    fn count_runs(&self) -> BoxFuture<'_, Result<Vec<RunCount>, StoreError>> {
        Box::pin(async move { Ok(self.read_state(StoreState::count_runs).await) })
    }

    fn read_documents(
        &self,
        kind: Arc<str>,
        keys: Vec<Arc<str>>,
    ) -> BoxFuture<'_, Result<Vec<Document>, StoreError>> {
        Box::pin(
            async move { Ok(self.read_state(|world| world.read_documents(&kind, &keys)).await) },
        )
    }

    fn list_documents(
        &self,
        query: DocumentQuery,
    ) -> BoxFuture<'_, Result<Vec<Document>, StoreError>> {
        Box::pin(async move { Ok(self.read_state(|world| world.list_documents(&query)).await) })
    }

    fn write_document(
        &self,
        document: Document,
        condition: WriteCondition,
    ) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            validation::validate_document(&document)?;
            let change = |world: &mut StoreState| Ok(world.write_document(document, condition));
            self.lock_disk().commit(Durability::Barrier, change)
        })
    }

    fn delete_document(
        &self,
        kind: Arc<str>,
        key: Arc<str>,
        version: Option<u64>,
    ) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            let change = |world: &mut StoreState| Ok(world.delete_document(&kind, &key, version));
            self.lock_disk().commit(Durability::Barrier, change)
        })
    }
}

impl std::fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

/// Returns the store location that errors name.
pub(crate) fn location() -> String {
    "memory".to_owned()
}

/// Converts to a shared store, for a driver and the test that crashes it.
impl From<MemoryStore> for Arc<dyn Store> {
    fn from(store: MemoryStore) -> Self {
        Arc::new(store)
    }
}
