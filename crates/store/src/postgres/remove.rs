//! Removing a lane, the lanes of its sub-agents, and everything stored for them, in one transaction.

use std::sync::LazyLock;

use tokio_postgres::types::Type;
use windlass_core::child;
use windlass_core::ids::LaneId;
use windlass_runtime::ports::{Removed, SeenBeat, StoreError, WorkerId};

use super::link::{Link, Sql};
use super::trouble::{Trouble, sort};
use crate::valid::refusal;

/// The lane and all whose names begin like it, locked against owners and forks.
static FAMILY: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT no, id, owner, (SELECT beats FROM worker WHERE worker_id = lane.owner),
             active_run IS NOT NULL OR EXISTS (SELECT 1 FROM mail
                 WHERE mail.lane_no = lane.no AND read_seq IS NULL AND kind = 'prompt')
         FROM lane WHERE id = $1 OR left(id, length($2)) = $2 ORDER BY no DESC FOR UPDATE";
    Sql::new(text, &[Type::TEXT, Type::TEXT])
});

static FORK: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("SELECT id FROM lane WHERE parent = $1 ORDER BY no LIMIT 1", &[Type::INT8])
});

/// Bodies that other lanes may have too, locked against whoever writes one of them again.
static BODIES: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT hash FROM blob
         WHERE hash IN (SELECT blob FROM entry WHERE lane_no = $1 AND blob IS NOT NULL)
         ORDER BY hash FOR UPDATE";
    Sql::new(text, &[Type::INT8])
});

static ROWS: LazyLock<Sql> = LazyLock::new(|| {
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
        mails AS (DELETE FROM mail WHERE lane_no = $1),
        lanes AS (DELETE FROM lane WHERE no = $1),
        entries AS (DELETE FROM entry WHERE lane_no = $1 RETURNING seq)
        SELECT count(*) FROM entries";
    Sql::new(text, &[Type::INT8])
});

/// A statement of its own, so that it sees what was written before the bodies were locked.
static UNREAD_BODIES: LazyLock<Sql> = LazyLock::new(|| {
    let text = "DELETE FROM blob WHERE hash = ANY($1)
           AND NOT EXISTS (SELECT 1 FROM entry WHERE entry.blob = blob.hash)";
    Sql::new(text, &[Type::BYTEA_ARRAY])
});

pub(super) async fn remove(link: &mut Link, lane: &LaneId) -> Result<Removed, Trouble> {
    link.batch("BEGIN").await?;
    match inside(link, lane).await {
        Ok(removed) => link.batch("COMMIT").await.map(|()| removed),
        // A connection that is gone takes its transaction with it.
        Err(lost @ Trouble::Lost(_)) => Err(lost),
        Err(trouble) => link.batch("ROLLBACK").await.and(Err(trouble)),
    }
}

async fn inside(link: &mut Link, lane: &LaneId) -> Result<Removed, Trouble> {
    let mut removed = Removed::default();
    for (no, lane) in family(link, lane).await? {
        if let Some(row) = link.query(&FORK, &[&no]).await?.first() {
            let fork = row.try_get::<_, String>(0).map_err(|error| sort(link.place(), &error))?;
            return Err(Trouble::Refused(refusal::has_forks(&lane, &LaneId::from(fork))));
        }
        removed.entries += remove_one(link, no).await?;
        removed.lanes.push(lane);
    }
    if removed.lanes.is_empty() {
        return Err(Trouble::Refused(StoreError::NoLane { lane: lane.clone() }));
    }
    Ok(removed)
}

async fn family(link: &mut Link, lane: &LaneId) -> Result<Vec<(i64, LaneId)>, Trouble> {
    let rows = link.query(&FAMILY, &[&lane.as_str(), &format!("{lane}/")]).await?;
    let mut found = Vec::new();
    for row in &rows {
        let told = |error: tokio_postgres::Error| sort(link.place(), &error);
        let other = LaneId::from(row.try_get::<_, String>(1).map_err(told)?);
        if other != *lane && !child::is_descendant(lane, &other) {
            continue;
        }
        if let Some(owner) = row.try_get::<_, Option<String>>(2).map_err(told)? {
            let beats = row.try_get::<_, Option<i64>>(3).map_err(told)?.unwrap_or_default();
            let owner = SeenBeat { worker: WorkerId::from(owner), beats: beats.cast_unsigned() };
            return Err(Trouble::Refused(StoreError::Busy { lane: other, owner }));
        }
        if row.try_get(4).map_err(told)? {
            return Err(Trouble::Refused(refusal::unfinished(&other)));
        }
        found.push((row.try_get(0).map_err(told)?, other));
    }
    Ok(found)
}

async fn remove_one(link: &mut Link, no: i64) -> Result<u64, Trouble> {
    let bodies = link.query(&BODIES, &[&no]).await?;
    let hashes: Vec<Vec<u8>> = bodies.iter().filter_map(|row| row.try_get(0).ok()).collect();
    let rows = link.query(&ROWS, &[&no]).await?;
    if !hashes.is_empty() {
        link.query(&UNREAD_BODIES, &[&hashes]).await?;
    }
    let count = rows.first().map(|row| row.try_get::<_, i64>(0)).transpose();
    let count = count.map_err(|error| sort(link.place(), &error))?;
    Ok(count.unwrap_or_default().cast_unsigned())
}
