//! Removing a lane, the lanes of its sub-agents, and everything stored for them, in one transaction.

use std::sync::LazyLock;

use tokio_postgres::types::Type;
use windlass_core::log::ids::LaneId;
use windlass_core::run::child_runs;
use windlass_runtime::ports::{ObservedHeartbeat, RemovedLanes, StoreError, WorkerId};

use super::connection::{PgConnection, TypedSql};
use super::error::{PgError, classify_error};
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
    link: &mut PgConnection,
    lane: &LaneId,
) -> Result<RemovedLanes, PgError> {
    link.execute_batch("BEGIN").await?;
    match remove_in_transaction(link, lane).await {
        Ok(removed) => link.execute_batch("COMMIT").await.map(|()| removed),
        // A lost connection ends its transaction.
        Err(lost @ PgError::ConnectionLost(_)) => Err(lost),
        Err(trouble) => link.execute_batch("ROLLBACK").await.and(Err(trouble)),
    }
}

async fn remove_in_transaction(
    link: &mut PgConnection,
    lane: &LaneId,
) -> Result<RemovedLanes, PgError> {
    let mut removed = RemovedLanes::default();
    for (no, lane) in lock_lane_tree(link, lane).await? {
        if let Some(row) = link.query(&FIND_FORK, &[&no]).await?.first() {
            let fork = row
                .try_get::<_, String>(0)
                .map_err(|error| classify_error(link.location(), &error))?;
            return Err(PgError::Rejected(rejection::has_forks(&lane, &LaneId::from(fork))));
        }
        removed.entries += delete_lane_rows(link, no).await?;
        removed.lanes.push(lane);
    }
    if removed.lanes.is_empty() {
        return Err(PgError::Rejected(StoreError::LaneNotFound { lane: lane.clone() }));
    }
    Ok(removed)
}

async fn lock_lane_tree(
    link: &mut PgConnection,
    lane: &LaneId,
) -> Result<Vec<(i64, LaneId)>, PgError> {
    let rows = link.query(&LOCK_LANE_TREE, &[&lane.as_str(), &format!("{lane}/")]).await?;
    let mut found = Vec::new();
    for row in &rows {
        let told = |error: tokio_postgres::Error| classify_error(link.location(), &error);
        let other = LaneId::from(row.try_get::<_, String>(1).map_err(told)?);
        if other != *lane && !child_runs::is_descendant(lane, &other) {
            continue;
        }
        if let Some(owner) = row.try_get::<_, Option<String>>(2).map_err(told)? {
            let heartbeats = row.try_get::<_, Option<i64>>(3).map_err(told)?.unwrap_or_default();
            let owner = ObservedHeartbeat {
                worker: WorkerId::from(owner),
                heartbeats: heartbeats.cast_unsigned(),
            };
            return Err(PgError::Rejected(StoreError::Busy { lane: other, owner }));
        }
        if row.try_get(4).map_err(told)? {
            return Err(PgError::Rejected(rejection::unfinished_run(&other)));
        }
        found.push((row.try_get(0).map_err(told)?, other));
    }
    Ok(found)
}

async fn delete_lane_rows(link: &mut PgConnection, no: i64) -> Result<u64, PgError> {
    let bodies = link.query(&LOCK_BLOBS, &[&no]).await?;
    let hashes: Vec<Vec<u8>> = bodies.iter().filter_map(|row| row.try_get(0).ok()).collect();
    let rows = link.query(&DELETE_LANE_ROWS, &[&no]).await?;
    if !hashes.is_empty() {
        link.query(&DELETE_UNUSED_BLOBS, &[&hashes]).await?;
    }
    let count = rows.first().map(|row| row.try_get::<_, i64>(0)).transpose();
    let count = count.map_err(|error| classify_error(link.location(), &error))?;
    Ok(count.unwrap_or_default().cast_unsigned())
}
