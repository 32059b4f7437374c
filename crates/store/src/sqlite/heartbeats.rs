//! Heartbeats: workers show that they are alive, and lanes of workers whose heartbeats stopped are
//! released.

use rusqlite::{Connection, Row, params};
use windlass_core::log::ids::{LaneId, RunId};
use windlass_core::settings::conversation_settings::ResumePolicy;
use windlass_runtime::ports::{
    AbandonedLane, ObservedHeartbeat, ReconcileRequest, WorkerId, WorkerInfo,
};

use super::error::WorkError;
use super::group_commit::prepare_cached;
use super::{database_file, deferred_rows};
use crate::column_values;

/// Workers that were silent for longer are not listed.
const LISTED_WORKER_MS: i64 = 300_000;

pub(super) fn record_heartbeat(
    connection: &Connection,
    worker: &WorkerId,
) -> Result<(), WorkError> {
    prepare_cached(
        connection,
        "INSERT INTO worker (worker_id, heartbeats, heartbeat_at, pid) VALUES (?1, 1, ?2, ?3)
         ON CONFLICT (worker_id) DO UPDATE SET
             heartbeats = heartbeats + 1, heartbeat_at = excluded.heartbeat_at",
    )?
    .execute(params![&**worker, database_file::wall_ms(), std::process::id()])?;
    Ok(())
}

pub(super) fn announce_workspaces(
    connection: &Connection,
    worker: &WorkerId,
    workspaces: &str,
) -> Result<(), WorkError> {
    prepare_cached(connection, "UPDATE worker SET workspaces = ?2 WHERE worker_id = ?1")?
        .execute(params![&**worker, workspaces])?;
    Ok(())
}

/// Returns workers with a heartbeat within the last minutes: rows of processes that ended stay in
/// the table.
pub(super) fn recent_workers(connection: &Connection) -> Result<Vec<WorkerInfo>, WorkError> {
    let mut statement = prepare_cached(
        connection,
        "SELECT worker_id, max(0, ?1 - heartbeat_at), workspaces FROM worker
         WHERE workspaces IS NOT NULL AND heartbeat_at > ?1 - ?2 ORDER BY worker_id",
    )?;
    let found =
        statement.query_map(params![database_file::wall_ms(), LISTED_WORKER_MS], |row| {
            let workspaces: String = row.get(2)?;
            Ok(WorkerInfo {
                worker: row.get(0)?,
                silent_ms: row.get::<_, i64>(1)?.cast_unsigned(),
                workspaces: serde_json::from_str(&workspaces).unwrap_or_default(),
            })
        })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Skips from owner to owner, not lane by lane.
pub(super) const OWNERS_SQL: &str = "WITH RECURSIVE o (owner) AS (
             SELECT min(owner) FROM lane WHERE owner IS NOT NULL
             UNION ALL
             SELECT (SELECT min(lane.owner) FROM lane WHERE lane.owner > o.owner)
             FROM o WHERE o.owner IS NOT NULL)
         SELECT owner, coalesce((SELECT heartbeats FROM worker WHERE worker_id = owner), 0)
         FROM o WHERE owner IS NOT NULL";

pub(super) fn owner_heartbeats(
    connection: &Connection,
) -> Result<Vec<ObservedHeartbeat>, WorkError> {
    let mut statement = prepare_cached(connection, OWNERS_SQL)?;
    let rows = statement.query_map([], |row| parse_heartbeat(row, 0))?;
    let owners: Vec<Option<ObservedHeartbeat>> = rows.collect::<Result<_, _>>()?;
    Ok(owners.into_iter().flatten().collect())
}

fn parse_heartbeat(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<ObservedHeartbeat>> {
    let heartbeats = row.get::<_, i64>(at + 1)?.cast_unsigned();
    Ok(row.get::<_, Option<WorkerId>>(at)?.map(|worker| ObservedHeartbeat { worker, heartbeats }))
}

/// A lane of a dead owner.
struct DeadOwnerLane {
    no: i64,
    lane: LaneId,
    /// The run that was running, and its last checkpoint.
    interrupted_run: Option<(RunId, Option<String>)>,
    /// The resume policy of that run.
    policy: ResumePolicy,
    /// The first entry whose rows are not in their tables yet.
    rows_from: Option<i64>,
}

pub(super) fn reconcile_dead_owners(
    connection: &Connection,
    pass: &ReconcileRequest,
) -> Result<Vec<AbandonedLane>, WorkError> {
    let mut abandoned = Vec::new();
    for dead in &pass.dead {
        for found in
            lanes_of_dead_owner(connection, dead, pass.limit.saturating_sub(abandoned.len()))?
        {
            abandoned.push(release_dead_lane(connection, found, pass)?);
        }
    }
    Ok(abandoned)
}

/// Returns the lanes of an owner that still has the heartbeat count it was observed with.
fn lanes_of_dead_owner(
    connection: &Connection,
    dead: &ObservedHeartbeat,
    limit: usize,
) -> Result<Vec<DeadOwnerLane>, WorkError> {
    let mut statement = prepare_cached(
        connection,
        "SELECT lane.no, lane.id, run.run_id,
             (SELECT checkpoint FROM entry WHERE lane_no = lane.no AND run_no = run.no
                  AND checkpoint IS NOT NULL ORDER BY seq DESC LIMIT 1),
             run.resume_policy, lane.rows_from
         FROM lane LEFT JOIN run
             ON run.lane_no = lane.no AND run.active = 1 AND run.state = 'running'
         WHERE lane.owner = ?1
           AND ?2 = coalesce((SELECT heartbeats FROM worker WHERE worker_id = ?1), 0)
         ORDER BY lane.no LIMIT ?3",
    )?;
    let limit = column_values::limit_column(limit);
    let found = statement.query_map(
        params![&*dead.worker, dead.heartbeats.cast_signed(), limit],
        parse_dead_owner_lane,
    )?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn parse_dead_owner_lane(row: &Row<'_>) -> rusqlite::Result<DeadOwnerLane> {
    let kind: Option<String> = row.get(3)?;
    let run = row.get::<_, Option<String>>(2)?.map(RunId::from);
    let lane = LaneId::from(row.get::<_, String>(1)?);
    let policy = row.get::<_, Option<String>>(4)?;
    let policy = policy.map(|name| ResumePolicy::from_name(&name)).unwrap_or_default();
    let interrupted_run = run.map(|run| (run, kind));
    let (no, rows_from) = (row.get(0)?, row.get(5)?);
    Ok(DeadOwnerLane { no, lane, interrupted_run, policy, rows_from })
}

fn release_dead_lane(
    connection: &Connection,
    found: DeadOwnerLane,
    pass: &ReconcileRequest,
) -> Result<AbandonedLane, WorkError> {
    let DeadOwnerLane { no, lane, interrupted_run, policy, rows_from } = found;
    // They say that the run continued, so they are written before it is said to have stopped.
    if let Some(from) = rows_from {
        deferred_rows::write_deferred_rows(connection, no, &lane, from)?;
    }
    let resume_available = interrupted_run
        .as_ref()
        .and_then(|(_, kind)| kind.as_deref())
        .is_some_and(column_values::is_resumable_checkpoint);
    // A run that cannot be resumed automatically waits for a human, whatever the policy is.
    let stays = interrupted_run.is_some() && (pass.resume.is_offered(policy) || !resume_available);
    prepare_cached(
        connection,
        "UPDATE lane SET owner = NULL, epoch = epoch + 1, wake_at = iif(?2, NULL, wake_at)
         WHERE no = ?1",
    )?
    .execute(params![no, stays])?;
    let Some((run, _)) = interrupted_run else {
        return Ok(AbandonedLane { lane, timed_out: None, resume_available: false });
    };
    prepare_cached(
        connection,
        "UPDATE run SET state = 'timed_out', resume_available = ?2 WHERE run_id = ?1",
    )?
    .execute(params![run.as_str(), resume_available])?;
    Ok(AbandonedLane { lane, timed_out: Some(run), resume_available })
}
