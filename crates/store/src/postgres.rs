//! PostgreSQL store (15 or newer), shared by any number of processes on several machines.
//!
//! One task per process appends, everything that is queued in one statement; one connection is
//! reserved for heartbeats; a few more serve the rest. Every commit waits for the server's disk.
//! Only SQL is used that PostgreSQL, CockroachDB and YugabyteDB share. Not here: locks that outlive
//! a transaction, comparisons of clocks, and anything that relies on notifications not being lost.

mod append_batch;
mod append_queue;
mod append_statement;
mod backoff;
mod batch_writer;
mod config;
mod connection;
mod connection_pool;
mod deletion;
mod documents;
mod error;
mod heartbeats;
mod inbox;
mod lane_reads;
mod lanes;
mod notifications;
mod open;
mod rendezvous;
mod rows;
mod runnable_lanes;
mod schema_migration;
mod server_address;
mod statistics;
mod tenants;
mod tls;

#[cfg(test)]
mod open_tests;
#[cfg(test)]
mod rows_tests;
#[cfg(test)]
mod server_address_tests;

pub use config::PostgresSettings;

use std::sync::Arc;

use windlass_core::budget::spending::Spending;
use windlass_core::log::ids::{Epoch, LaneId, RunId, Seq, UnixMillis};
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

use crate::encoding::EncodedMessage;
use crate::inbox_hints::InboxHints;
use crate::{column_values, crash_points, validation};
use append_batch::EncodedAppend;
use append_queue::AppendQueue;
use config::ServerConfig;
use connection_pool::PgPool;
use heartbeats::HeartbeatConnection;
use notifications::InboxNotifier;
use open::OpenConnections;
use server_address::ServerAddress;

/// A store of lanes in a PostgreSQL database.
pub struct PostgresStore {
    config: Arc<ServerConfig>,
    hints: Arc<InboxHints>,
    notifier: Arc<InboxNotifier>,
    pool: PgPool,
    heartbeat: HeartbeatConnection,
    writer: AppendQueue,
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore")
            .field("place", &self.config.location())
            .finish_non_exhaustive()
    }
}

/// Runs work on a connection of the pool, and again if the connection is lost.
macro_rules! with_connection {
    ($pool:expr, |$connection:ident, $attempt:pat_param| $work:expr) => {
        $pool.run_with_retries(|mut $connection, $attempt| {
            Box::pin(async move {
                let outcome = {
                    let $connection = &mut $connection;
                    $work.await
                };
                ($connection, outcome)
            })
        })
    };
}

impl PostgresStore {
    /// Returns whether the text is the address of a PostgreSQL store rather than a file name.
    #[must_use]
    pub fn is_address(text: &str) -> bool {
        server_address::is_url(text)
    }

    /// Opens the database and creates its tables if they are missing. Connections belong to the
    /// runtime in which this is called.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        Self::open_with(url, &PostgresSettings::default()).await
    }

    /// Opens the database with the given settings.
    pub async fn open_with(url: &str, settings: &PostgresSettings) -> Result<Self, StoreError> {
        let address = ServerAddress::parse(url)?;
        let tls = tls::make_connector(&address.trust)?;
        let config = Arc::new(ServerConfig::new(address, tls, settings.clone()));
        let OpenConnections { append_connection, heartbeat_connection } =
            open::open_database(&config).await?;
        let hints = Arc::new(InboxHints::default());
        let notifier = Arc::new(InboxNotifier::start(Arc::clone(&config), Arc::clone(&hints)));
        Ok(Self {
            pool: PgPool::new(Arc::clone(&config)),
            heartbeat: HeartbeatConnection::new(Arc::clone(&config), heartbeat_connection),
            writer: AppendQueue::start(
                Arc::clone(&config),
                append_connection,
                Arc::clone(&notifier),
            ),
            config,
            hints,
            notifier,
        })
    }

    /// Returns how many appending transactions were committed.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.config.commits()
    }
}

impl Store for PostgresStore {
    fn enqueue_message(
        &self,
        lane: LaneId,
        message: OutboxMessage,
    ) -> BoxFuture<'_, Result<EnqueuedMessage, StoreError>> {
        Box::pin(async move {
            validation::validate_lane(&lane)?;
            validation::validate_message(&message)?;
            let (lane, message) = (&lane, &EncodedMessage::new(&message)?);
            crash_points::crash_point(crash_points::ENQUEUE_BEFORE);
            let sent = with_connection!(self.pool, |conn, _| inbox::enqueue_message(
                conn, lane, message, None
            ))
            .await?;
            crash_points::crash_point(crash_points::ENQUEUE_AFTER);
            self.notifier.notify_lane(lane);
            Ok(EnqueuedMessage { message: sent })
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
            let (lane, worker, dead) = (&lane, &worker, dead.as_ref());
            crash_points::crash_point(crash_points::CLAIM_BEFORE);
            let claimed = with_connection!(self.pool, |conn, attempt| {
                lanes::claim_lane(conn, lane, worker, dead, attempt)
            });
            let claimed = claimed.await?;
            crash_points::crash_point(crash_points::CLAIM_AFTER);
            Ok(claimed)
        })
    }

    fn release_lane(
        &self,
        lane: LaneId,
        worker: WorkerId,
        epoch: Epoch,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let (lane, worker) = (&lane, &worker);
            crash_points::crash_point(crash_points::RELEASE_BEFORE);
            let released = with_connection!(self.pool, |conn, _| lanes::release_lane(
                conn, lane, worker, epoch
            ));
            let wants_more = released.await?;
            crash_points::crash_point(crash_points::RELEASE_AFTER);
            if wants_more {
                self.notifier.notify_lane(lane);
            }
            Ok(())
        })
    }

    fn record_heartbeat(&self, worker: WorkerId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            validation::validate_worker(&worker)?;
            crash_points::crash_point(crash_points::HEARTBEAT_BEFORE);
            self.heartbeat.send_heartbeat(&worker).await?;
            crash_points::crash_point(crash_points::HEARTBEAT_AFTER);
            Ok(())
        })
    }

    fn append(&self, append: AppendRequest) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            validation::validate_append(&append)?;
            self.writer.submit(&self.config, EncodedAppend::new(append)?).await
        })
    }

    fn read_log(
        &self,
        lane: LaneId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<EncodedEntry>, StoreError>> {
        Box::pin(async move {
            let lane = &lane;
            with_connection!(self.pool, |conn, _| lane_reads::read_log(conn, lane, after, limit))
                .await
        })
    }

    fn read_inbox(
        &self,
        lane: LaneId,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<InboxMessage>, StoreError>> {
        Box::pin(async move {
            let lane = &lane;
            with_connection!(self.pool, |conn, _| inbox::pending_messages(conn, lane, limit)).await
        })
    }

    fn fork_lane(
        &self,
        parent: LaneId,
        at: Seq,
        child: LaneId,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            validation::validate_lane(&child)?;
            let (parent, child) = (&parent, &child);
            with_connection!(self.pool, |conn, _| lanes::fork_lane(conn, parent, at, child)).await
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
            let owner = &owner;
            let lanes = with_connection!(self.pool, |conn, _| runnable_lanes::lanes_with_messages(
                conn, owner
            ))
            .await?;
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
            let (lane, affinity) = (&lane, &affinity);
            with_connection!(self.pool, |conn, _| lanes::register_lane(conn, lane, affinity)).await
        })
    }

    fn reconcile_dead_owners(
        &self,
        pass: ReconcileRequest,
    ) -> BoxFuture<'_, Result<Vec<AbandonedLane>, StoreError>> {
        Box::pin(async move {
            let pass = &pass;
            with_connection!(self.pool, |conn, _| heartbeats::reconcile_dead_owners(conn, pass))
                .await
        })
    }

    fn forget_old_rows(
        &self,
        forget: RetentionCutoffs,
    ) -> BoxFuture<'_, Result<DeletedRows, StoreError>> {
        Box::pin(async move {
            let forget = &forget;
            with_connection!(self.pool, |conn, _| deletion::forget_old_rows(conn, forget)).await
        })
    }

    fn owner_heartbeats(&self) -> BoxFuture<'_, Result<Vec<ObservedHeartbeat>, StoreError>> {
        Box::pin(async move {
            with_connection!(self.pool, |conn, _| heartbeats::owner_heartbeats(conn)).await
        })
    }

    fn claim_runnable_lanes(
        &self,
        worker: WorkerId,
        query: ClaimQuery,
    ) -> BoxFuture<'_, Result<Vec<(LaneId, LaneClaim)>, StoreError>> {
        Box::pin(async move {
            validation::validate_worker(&worker)?;
            let (worker, query) = (&worker, &query);
            crash_points::crash_point(crash_points::CLAIM_BEFORE);
            let claimed = with_connection!(self.pool, |conn, attempt| {
                runnable_lanes::claim_runnable_lanes(conn, worker, query, attempt)
            });
            let claimed = claimed.await?;
            if !claimed.is_empty() {
                crash_points::crash_point(crash_points::CLAIM_AFTER);
            }
            Ok(claimed)
        })
    }

    fn lanes_owned_by(&self, owner: WorkerId) -> BoxFuture<'_, Result<Vec<LaneId>, StoreError>> {
        Box::pin(async move {
            let owner = &owner;
            with_connection!(self.pool, |conn, _| runnable_lanes::lanes_owned_by(conn, owner)).await
        })
    }

    fn announce_workspaces(
        &self,
        worker: WorkerId,
        workspaces: Vec<ServedWorkspace>,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            validation::validate_worker(&worker)?;
            let (worker, workspaces) = (&worker, &column_values::encode_workspaces(&workspaces));
            with_connection!(self.pool, |conn, _| heartbeats::announce_workspaces(
                conn, worker, workspaces
            ))
            .await
        })
    }

    fn list_workers(&self) -> BoxFuture<'_, Result<Vec<WorkerInfo>, StoreError>> {
        Box::pin(async move {
            with_connection!(self.pool, |conn, _| heartbeats::recent_workers(conn)).await
        })
    }

    fn wake_lane(&self, lane: LaneId) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            let lane = &lane;
            let woken = with_connection!(self.pool, |conn, _| lanes::wake_lane(conn, lane)).await?;
            if woken {
                self.notifier.notify_lane(lane);
            }
            Ok(woken)
        })
    }

    fn remove_lane(&self, lane: LaneId) -> BoxFuture<'_, Result<RemovedLanes, StoreError>> {
        Box::pin(async move {
            let lane = &lane;
            with_connection!(self.pool, |conn, _| deletion::remove_lanes(conn, lane)).await
        })
    }

    fn lane_info(&self, lane: LaneId) -> BoxFuture<'_, Result<Option<LaneInfo>, StoreError>> {
        Box::pin(async move {
            let lane = &lane;
            with_connection!(self.pool, |conn, _| lane_reads::read_lane(conn, lane)).await
        })
    }

    fn list_trace_ends(
        &self,
        since: UnixMillis,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<RunTraceEnd>, StoreError>> {
        Box::pin(async move {
            with_connection!(self.pool, |conn, _| lane_reads::read_trace_ends(conn, since, limit))
                .await
        })
    }

    fn read_raw_responses(
        &self,
        lane: LaneId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<RawRow>, StoreError>> {
        Box::pin(async move {
            let lane = &lane;
            with_connection!(self.pool, |conn, _| lane_reads::read_raw_responses(
                conn, lane, after, limit
            ))
            .await
        })
    }

    fn spending(&self, account: SpendingAccount) -> BoxFuture<'_, Result<Spending, StoreError>> {
        Box::pin(async move {
            let account = &account;
            with_connection!(self.pool, |conn, _| statistics::read_spending(conn, account)).await
        })
    }

    fn tool_stats(&self, since: UnixMillis) -> BoxFuture<'_, Result<Vec<ToolStats>, StoreError>> {
        Box::pin(async move {
            with_connection!(self.pool, |conn, _| statistics::read_tool_stats(conn, since)).await
        })
    }

    fn event_counts(
        &self,
        since: UnixMillis,
    ) -> BoxFuture<'_, Result<Vec<EventCount>, StoreError>> {
        Box::pin(async move {
            with_connection!(self.pool, |conn, _| statistics::count_events(conn, since)).await
        })
    }

    fn record_worker_event(&self, event: WorkerEvent) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            validation::validate_worker(&event.worker)?;
            let event = &event;
            with_connection!(self.pool, |conn, _| statistics::insert_worker_event(conn, event))
                .await
        })
    }

    fn worker_events(
        &self,
        page: WorkerEventPage,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<NumberedWorkerEvent>, StoreError>> {
        Box::pin(async move {
            with_connection!(self.pool, |conn, _| statistics::read_worker_events(conn, page, limit))
                .await
        })
    }

    fn find_run(&self, run: RunId) -> BoxFuture<'_, Result<Option<RunInfo>, StoreError>> {
        Box::pin(async move {
            let run = &run;
            with_connection!(self.pool, |conn, _| lane_reads::find_run(conn, run)).await
        })
    }

    fn list_runs(
        &self,
        lane: Option<LaneId>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<RunInfo>, StoreError>> {
        Box::pin(async move {
            let lane = lane.as_ref();
            with_connection!(self.pool, |conn, _| lane_reads::read_runs(conn, lane, limit)).await
        })
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
            let (lane, affinity) = (&lane, &affinity);
            let message = &EncodedMessage::new(&message)?;
            crash_points::crash_point(crash_points::ENQUEUE_BEFORE);
            let sent = with_connection!(self.pool, |conn, _| tenants::enqueue_prompt(
                conn, lane, affinity, message
            ))
            .await?;
            crash_points::crash_point(crash_points::ENQUEUE_AFTER);
            self.notifier.notify_lane(lane);
            Ok(EnqueuedMessage { message: sent })
        })
    }

    fn set_tenant_limits(
        &self,
        tenant: Arc<str>,
        limits: TenantLimits,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            validation::validate_tenant(&tenant)?;
            let (tenant, limits) = (&*tenant, &limits);
            with_connection!(self.pool, |conn, _| tenants::set_limits(conn, tenant, limits)).await
        })
    }

    fn tenant_limits(&self) -> BoxFuture<'_, Result<Vec<LimitedTenant>, StoreError>> {
        Box::pin(
            async move { with_connection!(self.pool, |conn, _| tenants::list_limits(conn)).await },
        )
    }

    fn count_runs(&self) -> BoxFuture<'_, Result<Vec<RunCount>, StoreError>> {
        Box::pin(
            async move { with_connection!(self.pool, |conn, _| tenants::count_runs(conn)).await },
        )
    }

    fn read_documents(
        &self,
        kind: Arc<str>,
        keys: Vec<Arc<str>>,
    ) -> BoxFuture<'_, Result<Vec<Document>, StoreError>> {
        Box::pin(async move {
            let (kind, keys) = (&*kind, &*keys);
            with_connection!(self.pool, |conn, _| documents::read_documents(conn, kind, keys)).await
        })
    }

    fn list_documents(
        &self,
        query: DocumentQuery,
    ) -> BoxFuture<'_, Result<Vec<Document>, StoreError>> {
        Box::pin(async move {
            let query = &query;
            with_connection!(self.pool, |conn, _| documents::list_documents(conn, query)).await
        })
    }

    fn write_document(
        &self,
        document: Document,
        condition: WriteCondition,
    ) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            validation::validate_document(&document)?;
            let document = &document;
            with_connection!(self.pool, |conn, attempt| documents::write_document(
                conn, document, condition, attempt
            ))
            .await
        })
    }

    fn delete_document(
        &self,
        kind: Arc<str>,
        key: Arc<str>,
        version: Option<u64>,
    ) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            let (kind, key) = (&*kind, &*key);
            with_connection!(self.pool, |conn, attempt| documents::delete_document(
                conn, kind, key, version, attempt
            ))
            .await
        })
    }
}
