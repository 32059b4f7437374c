//! SQLite store: one file in WAL mode, shared by any number of processes.
//!
//! One connection per process writes, with group commit: everything that is queued goes into one
//! transaction, on the caller's thread if its runtime has only one, else on a thread of its own.
//! Another thread syncs the write-ahead log for callers that ask for durability; reads use
//! connections of their own. Not here: any SQL outside the files of this folder.

mod database_file;
mod deferred_rows;
mod deletion;
mod documents;
mod error;
mod fenced_append;
mod group_commit;
mod heartbeats;
mod inbox;
mod lane_reads;
mod lanes;
mod open;
mod raw_retention;
mod reader_pool;
mod rows;
mod run_columns;
mod runnable_lanes;
mod schema_migration;
mod statistics;
mod tenants;
mod wal;
mod write_queue;
mod writer;

#[cfg(test)]
mod error_tests;

pub use open::SqliteSettings;

use std::path::Path;
use std::sync::Arc;

use windlass_core::budget::spending::Spending;
use windlass_core::log::ids::{Epoch, LaneId, RunId, Seq, UnixMillis};
use windlass_core::log::inbox::InboxMessage;
use windlass_core::log::record::Durability;
use windlass_core::projection::RawRow;
use windlass_runtime::ports::{
    AbandonedLane, Affinity, AppendRequest, BoxFuture, ClaimQuery, DeletedRows, Document,
    DocumentQuery, EncodedEntry, EnqueuedMessage, EventCount, LaneClaim, LaneInfo, LimitedTenant,
    NumberedWorkerEvent, ObservedHeartbeat, OutboxMessage, ReconcileRequest, RemovedLanes,
    RetentionCutoffs, RunCount, RunInfo, RunTraceEnd, ServedWorkspace, SpendingAccount, Store,
    StoreError, TenantLimits, ToolStats, WorkerEvent, WorkerEventPage, WorkerId, WorkerInfo,
    WriteCondition,
};

use crate::encoding::EncodedMessage;
use crate::inbox_hints::InboxHints;
use crate::{column_values, validation};
use database_file::DatabaseFile;
use fenced_append::PreparedAppend;
use group_commit::WriteWork;
use reader_pool::ReaderPool;
use writer::SqliteWriter;

/// A store of lanes in a SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    file: Arc<DatabaseFile>,
    hints: Arc<InboxHints>,
    readers: Arc<ReaderPool>,
    writer: SqliteWriter,
}

impl SqliteStore {
    /// Opens the file and creates it and its folder if they are missing.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path, &SqliteSettings::default())
    }

    /// Opens the file with the given settings.
    pub fn open_with(
        path: impl AsRef<Path>,
        settings: &SqliteSettings,
    ) -> Result<Self, StoreError> {
        let (file, connection) = open::open_database(path.as_ref(), settings)?;
        let file = Arc::new(file);
        let hints = Arc::new(InboxHints::default());
        let readers = Arc::new(ReaderPool::new(Arc::clone(&file)));
        let writer = SqliteWriter::start(Arc::clone(&file), connection, Arc::clone(&hints))?;
        Ok(Self { file, hints, readers, writer })
    }

    /// Reads the whole file and checks its integrity; slow for a large file.
    pub async fn check(&self) -> Result<(), StoreError> {
        let file = Arc::clone(&self.file);
        self.readers
            .run_blocking(move |connection| database_file::check_whole_file(connection, &file))
            .await
    }

    /// Returns the version of the file's schema.
    #[must_use]
    pub fn schema_version(&self) -> i64 {
        schema_migration::MIGRATIONS.newest()
    }

    /// Returns the number of syncs that a caller waited for.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.file.syncs()
    }

    /// Returns how many transactions were committed.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.file.commits()
    }
}

impl Drop for SqliteStore {
    /// Waits for accepted work, then leaves a single file with an empty write-ahead log.
    fn drop(&mut self) {
        self.readers.close();
        self.writer.close();
    }
}

impl Store for SqliteStore {
    fn enqueue_message(
        &self,
        lane: LaneId,
        message: OutboxMessage,
    ) -> BoxFuture<'_, Result<EnqueuedMessage, StoreError>> {
        Box::pin(async move {
            validation::validate_lane(&lane)?;
            validation::validate_message(&message)?;
            let work = WriteWork::EnqueueMessage { lane, message: EncodedMessage::new(&message)? };
            self.writer.submit(work, Durability::Barrier).await?.into_enqueued()
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
            let work = WriteWork::Claim { lane, worker, dead };
            self.writer.submit(work, Durability::Commit).await?.into_claim()
        })
    }

    fn release_lane(
        &self,
        lane: LaneId,
        worker: WorkerId,
        epoch: Epoch,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let work = WriteWork::Release { lane, worker, epoch };
            self.writer.submit(work, Durability::Commit).await.map(drop)
        })
    }

    fn record_heartbeat(&self, worker: WorkerId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            validation::validate_worker(&worker)?;
            self.writer.submit(WriteWork::Heartbeat { worker }, Durability::Commit).await.map(drop)
        })
    }

    fn append(&self, append: AppendRequest) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            validation::validate_append(&append)?;
            let durability = append.durability;
            let work = WriteWork::Append(Box::new(PreparedAppend::new(append)?));
            self.writer.submit(work, durability).await.map(drop)
        })
    }

    fn read_log(
        &self,
        lane: LaneId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<EncodedEntry>, StoreError>> {
        let query = move |connection: &_| lane_reads::read_log(connection, &lane, after, limit);
        Box::pin(self.readers.query(query))
    }

    fn read_inbox(
        &self,
        lane: LaneId,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<InboxMessage>, StoreError>> {
        Box::pin(
            self.readers.query(move |connection| inbox::pending_messages(connection, &lane, limit)),
        )
    }

    fn fork_lane(
        &self,
        parent: LaneId,
        at: Seq,
        child: LaneId,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            validation::validate_lane(&child)?;
            let work = WriteWork::Fork { parent, at, child };
            self.writer.submit(work, Durability::Barrier).await.map(drop)
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
            let query =
                move |connection: &_| runnable_lanes::lanes_with_messages(connection, &owner);
            let lanes = self.readers.query(query).await?;
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
            let work = WriteWork::RegisterLane { lane, affinity };
            self.writer.submit(work, Durability::Commit).await.map(drop)
        })
    }

    fn reconcile_dead_owners(
        &self,
        pass: ReconcileRequest,
    ) -> BoxFuture<'_, Result<Vec<AbandonedLane>, StoreError>> {
        Box::pin(async move {
            self.writer
                .submit(WriteWork::Reconcile(pass), Durability::Commit)
                .await?
                .into_abandoned()
        })
    }

    fn forget_old_rows(
        &self,
        forget: RetentionCutoffs,
    ) -> BoxFuture<'_, Result<DeletedRows, StoreError>> {
        Box::pin(async move {
            if !self
                .readers
                .query(move |connection| deletion::has_old_rows(connection, &forget))
                .await?
            {
                return Ok(DeletedRows::default());
            }
            self.writer
                .submit(WriteWork::Forget(forget), Durability::Commit)
                .await?
                .into_forgotten()
        })
    }

    fn owner_heartbeats(&self) -> BoxFuture<'_, Result<Vec<ObservedHeartbeat>, StoreError>> {
        Box::pin(self.readers.query(heartbeats::owner_heartbeats))
    }

    /// Finds lanes in a reader first, so that a query without result does not take the write lock.
    fn claim_runnable_lanes(
        &self,
        worker: WorkerId,
        query: ClaimQuery,
    ) -> BoxFuture<'_, Result<Vec<(LaneId, LaneClaim)>, StoreError>> {
        Box::pin(async move {
            validation::validate_worker(&worker)?;
            let wanting =
                move |connection: &_| runnable_lanes::find_runnable_lanes(connection, &query);
            let lanes = self.readers.query(wanting).await?;
            if lanes.is_empty() {
                return Ok(Vec::new());
            }
            let work = WriteWork::ClaimAll { lanes, worker };
            self.writer.submit(work, Durability::Commit).await?.into_claims()
        })
    }

    fn lanes_owned_by(&self, owner: WorkerId) -> BoxFuture<'_, Result<Vec<LaneId>, StoreError>> {
        Box::pin(
            self.readers
                .query(move |connection| runnable_lanes::lanes_owned_by(connection, &owner)),
        )
    }

    fn announce_workspaces(
        &self,
        worker: WorkerId,
        workspaces: Vec<ServedWorkspace>,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            validation::validate_worker(&worker)?;
            let work = WriteWork::Announce {
                worker,
                workspaces: column_values::encode_workspaces(&workspaces),
            };
            self.writer.submit(work, Durability::Commit).await.map(drop)
        })
    }

    fn list_workers(&self) -> BoxFuture<'_, Result<Vec<WorkerInfo>, StoreError>> {
        Box::pin(self.readers.query(heartbeats::recent_workers))
    }

    fn wake_lane(&self, lane: LaneId) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            self.writer.submit(WriteWork::Wake { lane }, Durability::Barrier).await?.into_woken()
        })
    }

    fn remove_lane(&self, lane: LaneId) -> BoxFuture<'_, Result<RemovedLanes, StoreError>> {
        Box::pin(async move {
            self.writer
                .submit(WriteWork::Remove { lane }, Durability::Barrier)
                .await?
                .into_removed()
        })
    }

    fn lane_info(&self, lane: LaneId) -> BoxFuture<'_, Result<Option<LaneInfo>, StoreError>> {
        Box::pin(self.readers.query(move |connection| lane_reads::read_lane(connection, &lane)))
    }

    fn list_runs(
        &self,
        lane: Option<LaneId>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<RunInfo>, StoreError>> {
        Box::pin(
            self.readers
                .query(move |connection| lane_reads::read_runs(connection, lane.as_ref(), limit)),
        )
    }

    fn find_run(&self, run: RunId) -> BoxFuture<'_, Result<Option<RunInfo>, StoreError>> {
        Box::pin(self.readers.query(move |connection| lane_reads::find_run(connection, &run)))
    }

    fn list_trace_ends(
        &self,
        since: UnixMillis,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<RunTraceEnd>, StoreError>> {
        Box::pin(
            self.readers
                .query(move |connection| lane_reads::read_trace_ends(connection, since, limit)),
        )
    }

    fn read_raw_responses(
        &self,
        lane: LaneId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<RawRow>, StoreError>> {
        let ask =
            move |connection: &_| lane_reads::read_raw_responses(connection, &lane, after, limit);
        Box::pin(self.readers.query(ask))
    }

    fn spending(&self, account: SpendingAccount) -> BoxFuture<'_, Result<Spending, StoreError>> {
        Box::pin(
            self.readers.query(move |connection| statistics::read_spending(connection, &account)),
        )
    }

    fn tool_stats(&self, since: UnixMillis) -> BoxFuture<'_, Result<Vec<ToolStats>, StoreError>> {
        let query = move |connection: &_| statistics::read_tool_stats(connection, since);
        Box::pin(deferred_rows::query_all_rows(&self.readers, &self.writer, query))
    }

    fn event_counts(
        &self,
        since: UnixMillis,
    ) -> BoxFuture<'_, Result<Vec<EventCount>, StoreError>> {
        let query = move |connection: &_| statistics::count_events(connection, since);
        Box::pin(deferred_rows::query_all_rows(&self.readers, &self.writer, query))
    }

    fn record_worker_event(&self, event: WorkerEvent) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            validation::validate_worker(&event.worker)?;
            self.writer.submit(WriteWork::RecordEvent(event), Durability::Commit).await.map(drop)
        })
    }

    fn worker_events(
        &self,
        page: WorkerEventPage,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<NumberedWorkerEvent>, StoreError>> {
        Box::pin(
            self.readers
                .query(move |connection| statistics::read_worker_events(connection, page, limit)),
        )
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
            let message = EncodedMessage::new(&message)?;
            let work = WriteWork::EnqueuePrompt { lane, affinity, message };
            self.writer.submit(work, Durability::Barrier).await?.into_enqueued()
        })
    }

    fn set_tenant_limits(
        &self,
        tenant: Arc<str>,
        limits: TenantLimits,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            validation::validate_tenant(&tenant)?;
            let work = WriteWork::SetLimits { tenant, limits };
            self.writer.submit(work, Durability::Barrier).await.map(drop)
        })
    }

    fn tenant_limits(&self) -> BoxFuture<'_, Result<Vec<LimitedTenant>, StoreError>> {
        Box::pin(self.readers.query(tenants::list_limits))
    }

    fn count_runs(&self) -> BoxFuture<'_, Result<Vec<RunCount>, StoreError>> {
        Box::pin(self.readers.query(tenants::count_runs))
    }

    fn read_documents(
        &self,
        kind: Arc<str>,
        keys: Vec<Arc<str>>,
    ) -> BoxFuture<'_, Result<Vec<Document>, StoreError>> {
        let query = move |connection: &_| documents::read_documents(connection, &kind, &keys);
        Box::pin(self.readers.query(query))
    }

    fn list_documents(
        &self,
        query: DocumentQuery,
    ) -> BoxFuture<'_, Result<Vec<Document>, StoreError>> {
        Box::pin(
            self.readers.query(move |connection| documents::list_documents(connection, &query)),
        )
    }

    fn write_document(
        &self,
        document: Document,
        condition: WriteCondition,
    ) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            validation::validate_document(&document)?;
            let work = WriteWork::WriteDocument { document, condition };
            self.writer.submit(work, Durability::Barrier).await?.into_changed()
        })
    }

    fn delete_document(
        &self,
        kind: Arc<str>,
        key: Arc<str>,
        version: Option<u64>,
    ) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            let work = WriteWork::DeleteDocument { kind, key, version };
            self.writer.submit(work, Durability::Barrier).await?.into_changed()
        })
    }
}
