//! Deletion: of a lane with everything stored for it and its sub-agents, and of rows that are too
//! old (retention).

use std::sync::LazyLock;

use tokio_postgres::types::Type;
use windlass_core::log::ids::LaneId;
use windlass_core::run::child_runs;
use windlass_runtime::ports::{
    DeletedRows, ObservedHeartbeat, RemovedLanes, RetentionCutoffs, StoreError, WorkerId,
};

use super::connection::{PgConnection, TypedSql};
use super::error::{PgError, classify_error};
use crate::column_values;
use crate::validation::rejection;

/// Locks the lane and its sub-agents' lanes, whose names begin with its own, against owners and
/// forks.
static LOCK_LANE_TREE: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT no, id, owner, (SELECT heartbeats FROM worker WHERE worker_id = lane.owner),
             active_run IS NOT NULL OR EXISTS (SELECT 1 FROM inbox
                 WHERE inbox.lane_no = lane.no AND read_seq IS NULL AND kind = 'prompt')
         FROM lane WHERE id = $1 OR left(id, length($2)) = $2 ORDER BY no DESC FOR UPDATE";
    TypedSql::new(text, &[Type::TEXT, Type::TEXT])
});

static FIND_FORK: LazyLock<TypedSql> = LazyLock::new(|| {
    TypedSql::new("SELECT id FROM lane WHERE fork_parent = $1 ORDER BY no LIMIT 1", &[Type::INT8])
});

/// Locks blobs that other lanes may share against concurrent writers.
static LOCK_BLOBS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT hash FROM blob
         WHERE hash IN (SELECT blob FROM entry WHERE lane_no = $1 AND blob IS NOT NULL)
         ORDER BY hash FOR UPDATE";
    TypedSql::new(text, &[Type::INT8])
});

static DELETE_LANE_ROWS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "WITH runs AS (DELETE FROM run WHERE lane_no = $1 RETURNING run_id),
        traces AS (
            DELETE FROM agent_loop_trace WHERE job_id IN (SELECT CASE
                WHEN run_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN run_id::uuid
                ELSE md5(run_id)::uuid END FROM runs) RETURNING id),
        iterations AS (
            DELETE FROM agent_loop_iteration WHERE trace_id IN (SELECT id FROM traces)),
        results AS (
            DELETE FROM agent_tool_results WHERE run_id IN (SELECT run_id FROM runs)),
        checkpoints AS (DELETE FROM checkpoint WHERE lane_no = $1),
        events AS (DELETE FROM event WHERE lane_no = $1),
        raws AS (DELETE FROM raw_response WHERE lane_no = $1),
        messages AS (DELETE FROM inbox WHERE lane_no = $1),
        lanes AS (DELETE FROM lane WHERE no = $1),
        entries AS (DELETE FROM entry WHERE lane_no = $1 RETURNING seq)
        SELECT count(*) FROM entries";
    TypedSql::new(text, &[Type::INT8])
});

/// Deletes blobs without readers. It is a statement of its own, so that it sees what was written
/// before the blobs were locked.
static DELETE_UNUSED_BLOBS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "DELETE FROM blob WHERE hash = ANY($1)
           AND NOT EXISTS (SELECT 1 FROM entry WHERE entry.blob = blob.hash)";
    TypedSql::new(text, &[Type::BYTEA_ARRAY])
});

pub(super) async fn remove_lanes(
    connection: &mut PgConnection,
    lane: &LaneId,
) -> Result<RemovedLanes, PgError> {
    connection.execute_batch("BEGIN").await?;
    match remove_in_transaction(connection, lane).await {
        Ok(removed) => connection.execute_batch("COMMIT").await.map(|()| removed),
        // A lost connection ends its transaction.
        Err(lost @ PgError::ConnectionLost(_)) => Err(lost),
        Err(error) => connection.execute_batch("ROLLBACK").await.and(Err(error)),
    }
}

async fn remove_in_transaction(
    connection: &mut PgConnection,
    lane: &LaneId,
) -> Result<RemovedLanes, PgError> {
    let mut removed = RemovedLanes::default();
    for (no, lane) in lock_lane_tree(connection, lane).await? {
        if let Some(row) = connection.query(&FIND_FORK, &[&no]).await?.first() {
            let fork = row
                .try_get::<_, String>(0)
                .map_err(|error| classify_error(connection.location(), &error))?;
            return Err(PgError::Rejected(rejection::has_forks(&lane, &LaneId::from(fork))));
        }
        removed.entries += delete_lane_rows(connection, no).await?;
        removed.lanes.push(lane);
    }
    if removed.lanes.is_empty() {
        return Err(PgError::Rejected(StoreError::LaneNotFound { lane: lane.clone() }));
    }
    Ok(removed)
}

async fn lock_lane_tree(
    connection: &mut PgConnection,
    lane: &LaneId,
) -> Result<Vec<(i64, LaneId)>, PgError> {
    let rows = connection.query(&LOCK_LANE_TREE, &[&lane.as_str(), &format!("{lane}/")]).await?;
    let mut found = Vec::new();
    for row in &rows {
        let classify = |error: tokio_postgres::Error| classify_error(connection.location(), &error);
        let other = LaneId::from(row.try_get::<_, String>(1).map_err(classify)?);
        if other != *lane && !child_runs::is_descendant(lane, &other) {
            continue;
        }
        if let Some(owner) = row.try_get::<_, Option<String>>(2).map_err(classify)? {
            let heartbeats =
                row.try_get::<_, Option<i64>>(3).map_err(classify)?.unwrap_or_default();
            let owner = ObservedHeartbeat {
                worker: WorkerId::from(owner),
                heartbeats: heartbeats.cast_unsigned(),
            };
            return Err(PgError::Rejected(StoreError::Busy { lane: other, owner }));
        }
        if row.try_get(4).map_err(classify)? {
            return Err(PgError::Rejected(rejection::unfinished_run(&other)));
        }
        found.push((row.try_get(0).map_err(classify)?, other));
    }
    Ok(found)
}

async fn delete_lane_rows(connection: &mut PgConnection, no: i64) -> Result<u64, PgError> {
    let bodies = connection.query(&LOCK_BLOBS, &[&no]).await?;
    let hashes: Vec<Vec<u8>> = bodies.iter().filter_map(|row| row.try_get(0).ok()).collect();
    let rows = connection.query(&DELETE_LANE_ROWS, &[&no]).await?;
    if !hashes.is_empty() {
        connection.query(&DELETE_UNUSED_BLOBS, &[&hashes]).await?;
    }
    let count = rows.first().map(|row| row.try_get::<_, i64>(0)).transpose();
    let count = count.map_err(|error| classify_error(connection.location(), &error))?;
    Ok(count.unwrap_or_default().cast_unsigned())
}

/// Deletes old rows of all tables in one statement. The newest row of the trace is kept, as in
/// SQLite.
static FORGET_OLD_ROWS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "WITH old_raw AS (
            SELECT no FROM (SELECT no, at FROM raw_response ORDER BY no LIMIT $3) r WHERE at < $1),
        old_events AS (
            SELECT no FROM (SELECT no, at FROM event ORDER BY no LIMIT $3) e WHERE at < $2),
        old_of_workers AS (
            SELECT no FROM (SELECT no, at FROM worker_event ORDER BY no LIMIT $3) e WHERE at < $2),
        old_traces AS (
            SELECT id FROM (SELECT id, ts FROM agent_loop_trace ORDER BY id LIMIT $3) t
            WHERE ts < to_timestamp($2 / 1000.0)
              AND id < (SELECT max(id) FROM agent_loop_trace)),
        raw AS (DELETE FROM raw_response WHERE no IN (SELECT no FROM old_raw) RETURNING no),
        events AS (DELETE FROM event WHERE no IN (SELECT no FROM old_events) RETURNING no),
        of_workers AS (
            DELETE FROM worker_event WHERE no IN (SELECT no FROM old_of_workers) RETURNING no),
        iterations AS (
            DELETE FROM agent_loop_iteration WHERE trace_id IN (SELECT id FROM old_traces)),
        traces AS (DELETE FROM agent_loop_trace WHERE id IN (SELECT id FROM old_traces) RETURNING id)
        SELECT (SELECT count(*) FROM raw), (SELECT count(*) FROM traces),
            (SELECT count(*) FROM events) + (SELECT count(*) FROM of_workers)";
    TypedSql::new(text, &[Type::INT8, Type::INT8, Type::INT8])
});

pub(super) async fn forget_old_rows(
    connection: &mut PgConnection,
    forget: &RetentionCutoffs,
) -> Result<DeletedRows, PgError> {
    let limit = column_values::limit_column(forget.limit);
    let before = |at: u64| column_values::saturating_column(at);
    let (raw, trace) = (before(forget.raw_before.0), before(forget.trace_before.0));
    let rows = connection.query(&FORGET_OLD_ROWS, &[&raw, &trace, &limit]).await?;
    let Some(row) = rows.first() else { return Ok(DeletedRows::default()) };
    let count = |column: usize| -> Result<usize, PgError> {
        let count: i64 =
            row.try_get(column).map_err(|error| classify_error(connection.location(), &error))?;
        Ok(usize::try_from(count).unwrap_or_default())
    };
    Ok(DeletedRows { raw: count(0)?, trace: count(1)?, events: count(2)? })
}
