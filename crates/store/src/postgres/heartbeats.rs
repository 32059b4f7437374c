//! Heartbeats: workers show that they are alive, and lanes of workers whose heartbeats stopped are
//! released. One connection is reserved for heartbeats, so that a busy process can still send them.

use std::sync::{Arc, LazyLock};

use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};
use windlass_core::log::ids::{LaneId, RunId};
use windlass_core::projection::CheckpointKind;
use windlass_runtime::ports::{
    AbandonedLane, ObservedHeartbeat, ReconcileRequest, ResumeOverride, StoreError, WorkerId,
    WorkerInfo,
};

use super::backoff::RetryState;
use super::config::ServerConfig;
use super::connection::{PgConnection, TypedSql};
use super::error::{PgError, classify_error};
use crate::column_values;

pub(super) struct HeartbeatConnection {
    config: Arc<ServerConfig>,
    connection: Mutex<Option<PgConnection>>,
}

impl HeartbeatConnection {
    pub(super) fn new(config: Arc<ServerConfig>, connection: PgConnection) -> Self {
        Self { config, connection: Mutex::new(Some(connection)) }
    }

    /// Sends a heartbeat until it is acknowledged or the retry timeout elapses. A heartbeat that
    /// lands twice is harmless: both show that the worker is alive.
    pub(super) async fn send_heartbeat(&self, worker: &WorkerId) -> Result<(), StoreError> {
        let mut retries = RetryState::new(self.config.location(), u32::MAX);
        let sending = async {
            let mut connection = self.connection.lock().await;
            loop {
                let Err(error) = self.try_send(&mut connection, worker).await else {
                    return Ok(());
                };
                retries.record_failure(error)?;
                *connection = None;
                retries.wait().await;
            }
        };
        match timeout(self.config.settings.retry_timeout, sending).await {
            Ok(outcome) => outcome.map_err(PgError::into_error),
            Err(_) => Err(retries.last_error().clone()),
        }
    }

    async fn try_send(
        &self,
        kept: &mut Option<PgConnection>,
        worker: &WorkerId,
    ) -> Result<(), PgError> {
        let connection = match kept {
            Some(connection) => connection,
            none => none.insert(PgConnection::connect(&self.config).await?),
        };
        record_heartbeat(connection, worker).await
    }
}

static RECORD_HEARTBEAT: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "INSERT INTO worker (worker_id, heartbeats, pid) VALUES ($1, 1, $2)
         ON CONFLICT (worker_id) DO UPDATE SET
             heartbeats = worker.heartbeats + 1, heartbeat_at = now()";
    TypedSql::new(text, &[Type::TEXT, Type::INT8])
});

static ANNOUNCE_WORKSPACES: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "UPDATE worker SET workspaces = $2 WHERE worker_id = $1";
    TypedSql::new(text, &[Type::TEXT, Type::TEXT])
});

/// Workers with a heartbeat within the last minutes: rows of processes that ended stay in the
/// table.
static RECENT_WORKERS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT worker_id,
             greatest(0, extract(epoch FROM clock_timestamp() - heartbeat_at) * 1000)::bigint,
             workspaces
         FROM worker WHERE workspaces IS NOT NULL AND heartbeat_at > now() - INTERVAL '5 minutes'
         ORDER BY worker_id";
    TypedSql::new(text, &[])
});

pub(super) async fn announce_workspaces(
    connection: &mut PgConnection,
    worker: &WorkerId,
    workspaces: &str,
) -> Result<(), PgError> {
    connection.query(&ANNOUNCE_WORKSPACES, &[&&**worker, &workspaces]).await.map(drop)
}

pub(super) async fn recent_workers(
    connection: &mut PgConnection,
) -> Result<Vec<WorkerInfo>, PgError> {
    let rows = connection.query(&RECENT_WORKERS, &[]).await?;
    let workers = rows.iter().map(parse_worker_info).collect::<Result<_, _>>();
    workers.map_err(|error| classify_error(connection.location(), &error))
}

fn parse_worker_info(row: &Row) -> Result<WorkerInfo, Error> {
    Ok(WorkerInfo {
        worker: row.try_get::<_, &str>(0)?.into(),
        silent_ms: row.try_get::<_, i64>(1)?.cast_unsigned(),
        workspaces: serde_json::from_str(row.try_get::<_, &str>(2)?).unwrap_or_default(),
    })
}

pub(super) async fn record_heartbeat(
    connection: &mut PgConnection,
    worker: &WorkerId,
) -> Result<(), PgError> {
    connection
        .query(&RECORD_HEARTBEAT, &[&&**worker, &i64::from(std::process::id())])
        .await
        .map(drop)
}

/// Reads the owners and their heartbeats by skipping from owner to owner, not lane by lane.
pub(super) static OWNER_HEARTBEATS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "WITH RECURSIVE o (owner) AS (
             SELECT min(owner) FROM lane WHERE owner IS NOT NULL
             UNION ALL
             SELECT (SELECT min(lane.owner) FROM lane WHERE lane.owner > o.owner)
             FROM o WHERE o.owner IS NOT NULL)
         SELECT o.owner, coalesce(worker.heartbeats, 0) FROM o
         LEFT JOIN worker ON worker.worker_id = o.owner WHERE o.owner IS NOT NULL";
    TypedSql::new(text, &[])
});

pub(super) async fn owner_heartbeats(
    connection: &mut PgConnection,
) -> Result<Vec<ObservedHeartbeat>, PgError> {
    let rows = connection.query(&OWNER_HEARTBEATS, &[]).await?;
    let owners = rows.iter().map(|row| parse_heartbeat(row, 0)).collect::<Result<Vec<_>, _>>();
    let owners = owners.map_err(|error| classify_error(connection.location(), &error))?;
    Ok(owners.into_iter().flatten().collect())
}

fn parse_heartbeat(row: &Row, at: usize) -> Result<Option<ObservedHeartbeat>, Error> {
    let heartbeats = row.try_get::<_, i64>(at + 1)?.cast_unsigned();
    let worker: Option<WorkerId> = row.try_get::<_, Option<String>>(at)?.map(Arc::from);
    Ok(worker.map(|worker| ObservedHeartbeat { worker, heartbeats }))
}

/// Reconciles the lanes of one owner in one statement: if it still has the heartbeat count it was
/// observed with, its lanes are fenced and the runs on them marked. A run that cannot be resumed
/// automatically waits for a human, whatever the policy is. Lanes that are being written to are
/// skipped.
static RECONCILE_OWNER: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "WITH left_lanes AS (
            SELECT no, id FROM lane WHERE owner = $1
                AND $2 = coalesce((SELECT heartbeats FROM worker WHERE worker_id = $1), 0)
            ORDER BY no LIMIT $3 FOR UPDATE SKIP LOCKED),
        stood AS (
            SELECT l.no, l.id, run.run_id, coalesce(
                (SELECT c.kind FROM checkpoint c WHERE c.lane_no = l.no AND c.run_id = run.run_id
                 ORDER BY c.seq DESC LIMIT 1) = ANY($4), false) AS resumable,
                CASE $5 WHEN 'at_once' THEN false WHEN 'offered' THEN true
                    ELSE coalesce(run.resume_policy, 'automatic') <> 'automatic' END AS offered
            FROM left_lanes l LEFT JOIN run
                ON run.lane_no = l.no AND run.active AND run.state = 'running'),
        marked AS (
            UPDATE run SET state = 'timed_out', resume_available = stood.resumable
            FROM stood WHERE run.run_id = stood.run_id),
        freed AS (
            UPDATE lane SET owner = NULL, epoch = lane.epoch + 1,
                wake_at = CASE WHEN stood.run_id IS NOT NULL AND (stood.offered OR NOT stood.resumable)
                    THEN NULL ELSE wake_at END
            FROM stood WHERE lane.no = stood.no)
        SELECT id, run_id, resumable FROM stood";
    TypedSql::new(text, &[Type::TEXT, Type::INT8, Type::INT8, Type::TEXT_ARRAY, Type::TEXT])
});

pub(super) async fn reconcile_dead_owners(
    connection: &mut PgConnection,
    pass: &ReconcileRequest,
) -> Result<Vec<AbandonedLane>, PgError> {
    let mut abandoned = Vec::new();
    for dead in &pass.dead {
        abandoned.extend(
            reconcile_owner(connection, pass, dead, pass.limit.saturating_sub(abandoned.len()))
                .await?,
        );
    }
    Ok(abandoned)
}

async fn reconcile_owner(
    connection: &mut PgConnection,
    pass: &ReconcileRequest,
    dead: &ObservedHeartbeat,
    limit: usize,
) -> Result<Vec<AbandonedLane>, PgError> {
    let limit = column_values::limit_column(limit);
    let (resume, kinds) = (resume_name(pass.resume), resumable_kinds());
    let values: [super::connection::SqlValue<'_>; 5] =
        [&&*dead.worker, &dead.heartbeats.cast_signed(), &limit, &kinds, &resume];
    let rows = connection.query(&RECONCILE_OWNER, &values).await?;
    let abandoned = rows.iter().map(parse_abandoned_lane).collect::<Result<_, _>>();
    abandoned.map_err(|error| classify_error(connection.location(), &error))
}

fn resume_name(resume: ResumeOverride) -> &'static str {
    match resume {
        ResumeOverride::AsRecorded => "as_recorded",
        ResumeOverride::Immediately => "at_once",
        ResumeOverride::OnRequest => "offered",
    }
}

fn parse_abandoned_lane(row: &Row) -> Result<AbandonedLane, Error> {
    let timed_out = row.try_get::<_, Option<String>>(1)?.map(RunId::from);
    let resume_available = row.try_get(2)?;
    Ok(AbandonedLane {
        lane: LaneId::from(row.try_get::<_, String>(0)?),
        timed_out,
        resume_available,
    })
}

fn resumable_kinds() -> Vec<&'static str> {
    let kinds = [
        CheckpointKind::Input,
        CheckpointKind::LlmResponse,
        CheckpointKind::ToolResult,
        CheckpointKind::Compaction,
        CheckpointKind::JournalUpdate,
        CheckpointKind::HumanPause,
        CheckpointKind::Final,
    ];
    kinds.into_iter().filter(|kind| kind.is_resumable()).map(CheckpointKind::as_str).collect()
}
