//! The store as one process reaches it: slow, at times unreachable, and at times wrong about
//! whether an operation succeeded.

mod broken;

use std::sync::{Arc, Mutex, PoisonError};

use windlass_core::budget::spending::Spending;
use windlass_core::log::ids::{Epoch, LaneId, Seq, UnixMillis};
use windlass_core::log::inbox::InboxMessage;
use windlass_core::projection::RawRow;
use windlass_runtime::ports::{
    AbandonedLane, Affinity, AppendRequest, BoxFuture, ClaimQuery, DeletedRows, Document,
    DocumentQuery, EncodedEntry, EnqueuedMessage, EventCount, LaneClaim, LaneInfo, LimitedTenant,
    NumberedWorkerEvent, ObservedHeartbeat, OutboxMessage, ReconcileRequest, RemovedLanes,
    RetentionCutoffs, RunCount, RunInfo, RunTraceEnd, ServedWorkspace, SpendingAccount, Store,
    StoreError, TenantLimits, ToolStats, WorkerEvent, WorkerEventPage, WorkerId, WorkerInfo,
    WriteCondition,
};

use super::clock::sleep_virtual;
use super::observation_log::ProcessId;
use super::process_gate::{ProcessGate, WorldAccess};
use super::seeded_rng::SeededRng;
use super::shared::SharedWorld;

/// How late the answer to a forgotten claim arrives.
const LATE_MS: u64 = 800;

pub(crate) struct ProcessStore {
    shared: Arc<SharedWorld>,
    process: ProcessId,
    gate: Arc<ProcessGate>,
    rng: Mutex<SeededRng>,
}

/// The fault of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StoreFault {
    None,
    /// The operation fails without effect.
    Before,
    /// The operation takes effect and seems to fail.
    After,
}

impl ProcessStore {
    pub(crate) fn new(
        shared: Arc<SharedWorld>,
        process: ProcessId,
        gate: Arc<ProcessGate>,
    ) -> Self {
        let rng = SeededRng::about(shared.plan.seed, &format!("store of process {process}"));
        Self { shared, process, gate, rng: Mutex::new(rng) }
    }

    fn draw<T>(&self, look: impl FnOnce(&mut SeededRng) -> T) -> T {
        look(&mut self.rng.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn on_the_way(&self) {
        let percent = if self.shared.is_calm() { 0 } else { self.shared.plan.store.delay_percent };
        let delay = self.draw(|rng| rng.chance(percent).then(|| rng.within(1, 60)));
        if let Some(ms) = delay {
            sleep_virtual(ms).await;
        }
        self.gate.pass(WorldAccess::Store).await;
    }

    fn mishap(&self, of_thousand: u64, what: &str) -> StoreFault {
        if self.shared.is_calm() {
            return StoreFault::None;
        }
        let mishap = self.draw(|rng| match (rng.below(1_000) < of_thousand, rng.chance(50)) {
            (false, _) => StoreFault::None,
            (true, false) => StoreFault::Before,
            (true, true) => StoreFault::After,
        });
        if mishap != StoreFault::None {
            self.shared.fault(&format!("{what} of process {} fails {mishap:?}", self.process));
        }
        mishap
    }

    /// Does the operation, or fails, or both.
    async fn attempt<T>(
        &self,
        what: &str,
        of_thousand: u64,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.shared.count(what).await;
        self.on_the_way().await;
        let result = match self.mishap(of_thousand, what) {
            StoreFault::None => work.await,
            StoreFault::Before => Err(cut()),
            StoreFault::After => work.await.and(Err(cut())),
        };
        self.on_the_way().await;
        result
    }

    fn rarely(&self) -> u64 {
        self.shared.plan.store.other_faults
    }

    async fn accept(
        &self,
        lane: LaneId,
        letter: OutboxMessage,
    ) -> Result<EnqueuedMessage, StoreError> {
        let delivered = self.shared.disk.enqueue_message(lane.clone(), letter).await?;
        self.shared.observations.record_command(&lane, delivered.message);
        Ok(delivered)
    }

    async fn take(
        &self,
        lane: LaneId,
        worker: WorkerId,
        dead: Option<ObservedHeartbeat>,
    ) -> Result<LaneClaim, StoreError> {
        let claim = self.shared.disk.claim_lane(lane.clone(), worker.clone(), dead).await?;
        // A forgotten claim is void: it must not be used. Its answer arrives late enough for
        // another worker to get the same epoch.
        match self.shared.disk.is_claim_valid(&lane, &worker, claim.epoch) {
            true => self.shared.observations.claim(&lane, claim.epoch, self.process),
            false => sleep_virtual(self.draw(|rng| rng.below(LATE_MS))).await,
        }
        Ok(claim)
    }

    async fn take_wanting(
        &self,
        worker: WorkerId,
        look: ClaimQuery,
    ) -> Result<Vec<(LaneId, LaneClaim)>, StoreError> {
        let claims = self.shared.disk.claim_runnable_lanes(worker, look).await?;
        for (lane, claim) in &claims {
            self.shared.observations.claim(lane, claim.epoch, self.process);
        }
        Ok(claims)
    }
}

fn cut() -> StoreError {
    StoreError::Broken { location: "disk".to_owned(), reason: "the connection was cut".to_owned() }
}

impl Store for ProcessStore {
    fn enqueue_message(
        &self,
        lane: LaneId,
        letter: OutboxMessage,
    ) -> BoxFuture<'_, Result<EnqueuedMessage, StoreError>> {
        Box::pin(self.attempt("a delivery", self.rarely(), self.accept(lane, letter)))
    }

    fn claim_lane(
        &self,
        lane: LaneId,
        worker: WorkerId,
        dead: Option<ObservedHeartbeat>,
    ) -> BoxFuture<'_, Result<LaneClaim, StoreError>> {
        Box::pin(self.attempt("a claim", self.rarely(), self.take(lane, worker, dead)))
    }

    fn release_lane(
        &self,
        lane: LaneId,
        worker: WorkerId,
        epoch: Epoch,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        let release = self.shared.disk.release_lane(lane, worker, epoch);
        Box::pin(self.attempt("a release", self.rarely(), release))
    }

    fn record_heartbeat(&self, worker: WorkerId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.attempt("a beat", self.rarely(), self.shared.disk.record_heartbeat(worker)))
    }

    fn append(&self, append: AppendRequest) -> BoxFuture<'_, Result<(), StoreError>> {
        let faults = self.shared.plan.store.append_faults;
        let append = async {
            let append = broken::adjust(&self.shared, append).await?;
            self.shared.disk.append(append).await
        };
        Box::pin(self.attempt("an append", faults, append))
    }

    fn read_log(
        &self,
        lane: LaneId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<EncodedEntry>, StoreError>> {
        Box::pin(self.attempt(
            "a read",
            self.rarely(),
            self.shared.disk.read_log(lane, after, limit),
        ))
    }

    fn read_inbox(
        &self,
        lane: LaneId,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<InboxMessage>, StoreError>> {
        Box::pin(self.attempt("a read", self.rarely(), self.shared.disk.read_inbox(lane, limit)))
    }

    fn fork_lane(
        &self,
        parent: LaneId,
        at: Seq,
        child: LaneId,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.attempt(
            "a fork",
            self.rarely(),
            self.shared.disk.fork_lane(parent, at, child),
        ))
    }

    fn wait_for_message(&self, lane: LaneId) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.shared.disk.wait_for_message(lane).await;
            self.gate.pass(WorldAccess::Store).await;
        })
    }

    fn lane_info(&self, lane: LaneId) -> BoxFuture<'_, Result<Option<LaneInfo>, StoreError>> {
        Box::pin(self.attempt("a read", self.rarely(), self.shared.disk.lane_info(lane)))
    }

    fn hint_unread_messages(&self, owner: WorkerId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.attempt(
            "a read",
            self.rarely(),
            self.shared.disk.hint_unread_messages(owner),
        ))
    }

    fn register_lane(
        &self,
        lane: LaneId,
        whose: Affinity,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        let introduced = self.shared.disk.register_lane(lane, whose);
        Box::pin(self.attempt("an introduction", self.rarely(), introduced))
    }

    fn reconcile_dead_owners(
        &self,
        pass: ReconcileRequest,
    ) -> BoxFuture<'_, Result<Vec<AbandonedLane>, StoreError>> {
        Box::pin(self.attempt(
            "a pass",
            self.rarely(),
            self.shared.disk.reconcile_dead_owners(pass),
        ))
    }

    fn forget_old_rows(
        &self,
        forget: RetentionCutoffs,
    ) -> BoxFuture<'_, Result<DeletedRows, StoreError>> {
        self.shared.disk.forget_old_rows(forget)
    }

    fn owner_heartbeats(&self) -> BoxFuture<'_, Result<Vec<ObservedHeartbeat>, StoreError>> {
        Box::pin(self.attempt("a read", self.rarely(), self.shared.disk.owner_heartbeats()))
    }

    fn claim_runnable_lanes(
        &self,
        worker: WorkerId,
        look: ClaimQuery,
    ) -> BoxFuture<'_, Result<Vec<(LaneId, LaneClaim)>, StoreError>> {
        Box::pin(self.attempt("a claim", self.rarely(), self.take_wanting(worker, look)))
    }

    fn lanes_owned_by(&self, owner: WorkerId) -> BoxFuture<'_, Result<Vec<LaneId>, StoreError>> {
        Box::pin(self.attempt("a read", self.rarely(), self.shared.disk.lanes_owned_by(owner)))
    }

    fn read_raw_responses(
        &self,
        lane: LaneId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<RawRow>, StoreError>> {
        let read = self.shared.disk.read_raw_responses(lane, after, limit);
        Box::pin(self.attempt("a read", self.rarely(), read))
    }

    fn list_trace_ends(
        &self,
        since: UnixMillis,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<RunTraceEnd>, StoreError>> {
        Box::pin(self.attempt(
            "a read",
            self.rarely(),
            self.shared.disk.list_trace_ends(since, limit),
        ))
    }

    fn announce_workspaces(
        &self,
        worker: WorkerId,
        workspaces: Vec<ServedWorkspace>,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        self.shared.disk.announce_workspaces(worker, workspaces)
    }

    fn list_workers(&self) -> BoxFuture<'_, Result<Vec<WorkerInfo>, StoreError>> {
        self.shared.disk.list_workers()
    }

    fn wake_lane(&self, lane: LaneId) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(self.attempt("a wake", self.rarely(), self.shared.disk.wake_lane(lane)))
    }

    fn remove_lane(&self, lane: LaneId) -> BoxFuture<'_, Result<RemovedLanes, StoreError>> {
        self.shared.disk.remove_lane(lane)
    }

    fn spending(&self, account: SpendingAccount) -> BoxFuture<'_, Result<Spending, StoreError>> {
        Box::pin(self.attempt("a read", self.rarely(), self.shared.disk.spending(account)))
    }

    fn tool_stats(&self, since: UnixMillis) -> BoxFuture<'_, Result<Vec<ToolStats>, StoreError>> {
        self.shared.disk.tool_stats(since)
    }

    fn event_counts(
        &self,
        since: UnixMillis,
    ) -> BoxFuture<'_, Result<Vec<EventCount>, StoreError>> {
        self.shared.disk.event_counts(since)
    }

    fn record_worker_event(&self, event: WorkerEvent) -> BoxFuture<'_, Result<(), StoreError>> {
        let recorded = self.shared.disk.record_worker_event(event);
        Box::pin(self.attempt("an event", self.rarely(), recorded))
    }

    fn worker_events(
        &self,
        page: WorkerEventPage,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<NumberedWorkerEvent>, StoreError>> {
        self.shared.disk.worker_events(page, limit)
    }

    fn list_runs(
        &self,
        lane: Option<LaneId>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<RunInfo>, StoreError>> {
        Box::pin(self.attempt("a read", self.rarely(), self.shared.disk.list_runs(lane, limit)))
    }
    fn enqueue_prompt(
        &self,
        lane: LaneId,
        affinity: Affinity,
        letter: OutboxMessage,
    ) -> BoxFuture<'_, Result<EnqueuedMessage, StoreError>> {
        self.shared.disk.enqueue_prompt(lane, affinity, letter)
    }

    fn set_tenant_limits(
        &self,
        tenant: Arc<str>,
        limits: TenantLimits,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        self.shared.disk.set_tenant_limits(tenant, limits)
    }

    fn tenant_limits(&self) -> BoxFuture<'_, Result<Vec<LimitedTenant>, StoreError>> {
        self.shared.disk.tenant_limits()
    }

    fn count_runs(&self) -> BoxFuture<'_, Result<Vec<RunCount>, StoreError>> {
        self.shared.disk.count_runs()
    }

    fn read_documents(
        &self,
        kind: Arc<str>,
        keys: Vec<Arc<str>>,
    ) -> BoxFuture<'_, Result<Vec<Document>, StoreError>> {
        self.shared.disk.read_documents(kind, keys)
    }

    fn list_documents(
        &self,
        query: DocumentQuery,
    ) -> BoxFuture<'_, Result<Vec<Document>, StoreError>> {
        self.shared.disk.list_documents(query)
    }

    fn write_document(
        &self,
        document: Document,
        condition: WriteCondition,
    ) -> BoxFuture<'_, Result<bool, StoreError>> {
        self.shared.disk.write_document(document, condition)
    }

    fn delete_document(
        &self,
        kind: Arc<str>,
        key: Arc<str>,
        version: Option<u64>,
    ) -> BoxFuture<'_, Result<bool, StoreError>> {
        self.shared.disk.delete_document(kind, key, version)
    }
}
