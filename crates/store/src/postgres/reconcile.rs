//! Reconciles lanes of dead owners; registers lanes.

use std::sync::LazyLock;

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};
use windlass_core::log::ids::{LaneId, RunId};
use windlass_core::projection::CheckpointKind;
use windlass_runtime::ports::{
    AbandonedLane, Affinity, ObservedHeartbeat, ReconcileRequest, ResumeOverride,
};

use super::connection::{PgConnection, TypedSql};
use super::error::{PgError, classify_error};
use super::nul_text;

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

static REGISTER_LANE: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "INSERT INTO lane (id, tenant, agent, affinity, folder)
         VALUES ($1, coalesce(nullif($2, ''), 'default'), $3, $4, $5)
         ON CONFLICT (id) DO UPDATE SET affinity = excluded.affinity, folder = excluded.folder
         WHERE lane.affinity = '' AND excluded.affinity <> ''";
    TypedSql::new(text, &[Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT])
});

static WAKE_LANE: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "UPDATE lane SET wake_at = 0 WHERE id = $1 AND active_run IS NOT NULL RETURNING no";
    TypedSql::new(text, &[Type::TEXT])
});

/// Makes an unfinished run due at once.
pub(super) async fn wake_lane(link: &mut PgConnection, lane: &LaneId) -> Result<bool, PgError> {
    Ok(!link.query(&WAKE_LANE, &[&lane.as_str()]).await?.is_empty())
}

pub(super) async fn reconcile_dead_owners(
    link: &mut PgConnection,
    pass: &ReconcileRequest,
) -> Result<Vec<AbandonedLane>, PgError> {
    let mut left = Vec::new();
    for dead in &pass.dead {
        left.extend(
            reconcile_owner(link, pass, dead, pass.limit.saturating_sub(left.len())).await?,
        );
    }
    Ok(left)
}

async fn reconcile_owner(
    link: &mut PgConnection,
    pass: &ReconcileRequest,
    dead: &ObservedHeartbeat,
    most: usize,
) -> Result<Vec<AbandonedLane>, PgError> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let (resume, kinds) = (resume_name(pass.resume), resumable_kinds());
    let values: [super::connection::SqlValue<'_>; 5] =
        [&&*dead.worker, &dead.heartbeats.cast_signed(), &most, &kinds, &resume];
    let rows = link.query(&RECONCILE_OWNER, &values).await?;
    let left = rows.iter().map(parse_abandoned_lane).collect::<Result<_, _>>();
    left.map_err(|error| classify_error(link.location(), &error))
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

/// Registers a lane. A known lane keeps its affinity; one without a workspace takes the given one.
pub(super) async fn register_lane(
    link: &mut PgConnection,
    lane: &LaneId,
    whose: &Affinity,
) -> Result<(), PgError> {
    let folder = nul_text::replace_nul(&whose.folder);
    let values: [super::connection::SqlValue<'_>; 5] =
        [&lane.as_str(), &&*whose.tenant, &&*whose.agent, &&*whose.workspace, &&*folder];
    link.query(&REGISTER_LANE, &values).await.map(drop)
}
