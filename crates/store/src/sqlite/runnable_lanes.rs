//! Finds runnable lanes. These statements run twice a second, so they only read lanes that have
//! messages, are due, or have an owner: never all of them.

use rusqlite::{Connection, Row, params};
use windlass_core::log::ids::LaneId;
use windlass_runtime::ports::{ClaimQuery, ObservedHeartbeat, WorkerId};

use super::error::WorkError;
use super::write_work::prepare_cached;

#[cfg(test)]
#[path = "runnable_lanes_tests.rs"]
mod runnable_lanes_tests;

/// Skips from owner to owner, not lane by lane.
const OWNERS_SQL: &str = "WITH RECURSIVE o (owner) AS (
             SELECT min(owner) FROM lane WHERE owner IS NOT NULL
             UNION ALL
             SELECT (SELECT min(lane.owner) FROM lane WHERE lane.owner > o.owner)
             FROM o WHERE o.owner IS NOT NULL)
         SELECT owner, coalesce((SELECT heartbeats FROM worker WHERE worker_id = owner), 0)
         FROM o WHERE owner IS NOT NULL";

/// Without help SQLite scans all lanes in their order, to merge those that are due with those that
/// have messages. The named indexes and the order of the join prevent that.
const RUNNABLE_LANES_SQL: &str = "WITH wants (no) AS (
             SELECT lane_no FROM inbox WHERE read_seq IS NULL
             UNION
             SELECT no FROM lane INDEXED BY lane_due
             WHERE owner IS NULL AND wake_at <= ?1)
         SELECT lane.id FROM wants CROSS JOIN lane ON lane.no = wants.no
         WHERE lane.owner IS NULL
           AND (lane.agent = '' OR lane.agent IN (SELECT value FROM json_each(?3)))
           AND (lane.affinity = '' OR lane.affinity IN (SELECT value FROM json_each(?4)))
           AND lane.id NOT IN (SELECT value FROM json_each(?5))
         ORDER BY row_number() OVER (PARTITION BY lane.tenant ORDER BY lane.wake_at, lane.no)
         LIMIT ?2";

const LANES_WITH_MESSAGES_SQL: &str = "SELECT lane.id FROM lane WHERE lane.owner = ?1 AND EXISTS (
             SELECT 1 FROM inbox INDEXED BY inbox_unread
             WHERE inbox.lane_no = lane.no AND inbox.read_seq IS NULL)";

pub(super) fn owner_heartbeats(
    connection: &Connection,
) -> Result<Vec<ObservedHeartbeat>, WorkError> {
    let mut statement = prepare_cached(connection, OWNERS_SQL)?;
    let rows = statement.query_map([], |row| parse_heartbeat(row, 0))?;
    let owners: Vec<Option<ObservedHeartbeat>> = rows.collect::<Result<_, _>>()?;
    Ok(owners.into_iter().flatten().collect())
}

/// Finds free lanes that are runnable, tenants in turn; it does not claim them.
pub(super) fn find_runnable_lanes(
    connection: &Connection,
    look: &ClaimQuery,
) -> Result<Vec<LaneId>, WorkError> {
    let mut statement = prepare_cached(connection, RUNNABLE_LANES_SQL)?;
    let most = i64::try_from(look.limit).unwrap_or(i64::MAX);
    let (agents, affinities) =
        (to_json_list(&look.scope.agents), to_json_list(&look.scope.workspaces));
    let except = to_json_list(&look.exclude);
    let given = params![look.now.0.cast_signed(), most, agents, affinities, except];
    let lanes = statement.query_map(given, |row| row.get::<_, String>(0))?;
    Ok(lanes.map(|lane| lane.map(LaneId::from)).collect::<Result<_, _>>()?)
}

/// Returns lanes of `owner` with unread messages.
pub(super) fn lanes_with_messages(
    connection: &Connection,
    owner: &WorkerId,
) -> Result<Vec<LaneId>, WorkError> {
    let mut statement = prepare_cached(connection, LANES_WITH_MESSAGES_SQL)?;
    let lanes = statement.query_map(params![&**owner], |row| row.get::<_, String>(0))?;
    Ok(lanes.map(|lane| lane.map(LaneId::from)).collect::<Result<_, _>>()?)
}

pub(super) fn lanes_owned_by(
    connection: &Connection,
    owner: &WorkerId,
) -> Result<Vec<LaneId>, WorkError> {
    let mut statement = prepare_cached(connection, "SELECT id FROM lane WHERE owner = ?1")?;
    let lanes = statement.query_map(params![&**owner], |row| row.get::<_, String>(0))?;
    Ok(lanes.map(|lane| lane.map(LaneId::from)).collect::<Result<_, _>>()?)
}

/// Encodes names as one JSON parameter.
fn to_json_list(names: &impl serde::Serialize) -> String {
    serde_json::to_string(names).unwrap_or_else(|_| "[]".to_owned())
}

fn parse_heartbeat(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<ObservedHeartbeat>> {
    let heartbeats = row.get::<_, i64>(at + 1)?.cast_unsigned();
    Ok(row.get::<_, Option<WorkerId>>(at)?.map(|worker| ObservedHeartbeat { worker, heartbeats }))
}
