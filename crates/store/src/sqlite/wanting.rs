//! Lanes that want to be driven. What is asked here is asked twice a second, so it only walks lanes
//! that have mail, are due, or belong to somebody dead: never all of them.

use rusqlite::{Connection, Row, params};
use windlass_core::ids::LaneId;
use windlass_runtime::ports::{Look, SeenBeat, WorkerId};

use super::error::Stop;
use super::step::sql;

#[cfg(test)]
#[path = "wanting_tests.rs"]
mod wanting_tests;

/// Walks from owner to owner, not from lane to lane.
const OWNERS: &str = "WITH RECURSIVE o (owner) AS (
             SELECT min(owner) FROM lane WHERE owner IS NOT NULL
             UNION ALL
             SELECT (SELECT min(lane.owner) FROM lane WHERE lane.owner > o.owner)
             FROM o WHERE o.owner IS NOT NULL)
         SELECT owner, coalesce((SELECT beats FROM worker WHERE worker_id = owner), 0)
         FROM o WHERE owner IS NOT NULL";

/// Left to itself SQLite walks all lanes in their order, to merge those that are due with those that
/// have mail. The names and the order of the join keep it from that.
const WANTING: &str = "WITH wants (no) AS (
             SELECT lane_no FROM mail WHERE read_seq IS NULL
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

const MAILED: &str = "SELECT lane.id FROM lane WHERE lane.owner = ?1 AND EXISTS (
             SELECT 1 FROM mail INDEXED BY mail_waiting
             WHERE mail.lane_no = lane.no AND mail.read_seq IS NULL)";

pub(super) fn owners(connection: &Connection) -> Result<Vec<SeenBeat>, Stop> {
    let mut statement = sql(connection, OWNERS)?;
    let rows = statement.query_map([], |row| seen(row, 0))?;
    let owners: Vec<Option<SeenBeat>> = rows.collect::<Result<_, _>>()?;
    Ok(owners.into_iter().flatten().collect())
}

/// Lanes that nobody has, one tenant after the other. They are not taken by this.
pub(super) fn wanting(connection: &Connection, look: &Look) -> Result<Vec<LaneId>, Stop> {
    let mut statement = sql(connection, WANTING)?;
    let most = i64::try_from(look.most).unwrap_or(i64::MAX);
    let (agents, affinities) = (list(&look.reach.agents), list(&look.reach.affinities));
    let except = list(&look.except);
    let given = params![look.now.0.cast_signed(), most, agents, affinities, except];
    let lanes = statement.query_map(given, |row| row.get::<_, String>(0))?;
    Ok(lanes.map(|lane| lane.map(LaneId::from)).collect::<Result<_, _>>()?)
}

/// Lanes of `owner` in which mail lies.
pub(super) fn mailed(connection: &Connection, owner: &WorkerId) -> Result<Vec<LaneId>, Stop> {
    let mut statement = sql(connection, MAILED)?;
    let lanes = statement.query_map(params![&**owner], |row| row.get::<_, String>(0))?;
    Ok(lanes.map(|lane| lane.map(LaneId::from)).collect::<Result<_, _>>()?)
}

pub(super) fn owned(connection: &Connection, owner: &WorkerId) -> Result<Vec<LaneId>, Stop> {
    let mut statement = sql(connection, "SELECT id FROM lane WHERE owner = ?1")?;
    let lanes = statement.query_map(params![&**owner], |row| row.get::<_, String>(0))?;
    Ok(lanes.map(|lane| lane.map(LaneId::from)).collect::<Result<_, _>>()?)
}

/// Names as one value.
fn list(names: &impl serde::Serialize) -> String {
    serde_json::to_string(names).unwrap_or_else(|_| "[]".to_owned())
}

fn seen(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<SeenBeat>> {
    let beats = row.get::<_, i64>(at + 1)?.cast_unsigned();
    Ok(row.get::<_, Option<WorkerId>>(at)?.map(|worker| SeenBeat { worker, beats }))
}
