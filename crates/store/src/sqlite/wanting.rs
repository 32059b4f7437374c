//! Lanes that want to be driven. What is asked here is asked twice a second, so it only walks lanes
//! that have mail, are due, or belong to somebody dead: never all of them.

use std::sync::Arc;

use rusqlite::{Connection, Row, params};
use windlass_core::ids::LaneId;
use windlass_runtime::ports::{Look, SeenBeat, WorkerId};

use super::error::Stop;
use super::step::sql;

/// Walks from owner to owner, not from lane to lane.
pub(super) fn owners(connection: &Connection) -> Result<Vec<SeenBeat>, Stop> {
    let mut statement = sql(
        connection,
        "WITH RECURSIVE o (owner) AS (
             SELECT min(owner) FROM lane WHERE owner IS NOT NULL
             UNION ALL
             SELECT (SELECT min(lane.owner) FROM lane WHERE lane.owner > o.owner)
             FROM o WHERE o.owner IS NOT NULL)
         SELECT owner, coalesce((SELECT beats FROM worker WHERE worker_id = owner), 0)
         FROM o WHERE owner IS NOT NULL",
    )?;
    let rows = statement.query_map([], |row| seen(row, 0))?;
    let owners: Vec<Option<SeenBeat>> = rows.collect::<Result<_, _>>()?;
    Ok(owners.into_iter().flatten().collect())
}

pub(super) fn claimable(connection: &Connection, look: &Look) -> Result<Vec<LaneId>, Stop> {
    let mut statement = sql(
        connection,
        "WITH wants (no) AS (
             SELECT lane_no FROM mail WHERE read_seq IS NULL
             UNION
             SELECT no FROM lane WHERE owner IS NULL AND wake_at <= ?1)
         SELECT lane.id FROM wants JOIN lane ON lane.no = wants.no
         WHERE lane.owner IS NULL
           AND (lane.agent = '' OR lane.agent IN (SELECT value FROM json_each(?3)))
           AND (lane.affinity = '' OR lane.affinity IN (SELECT value FROM json_each(?4)))
         ORDER BY row_number() OVER (PARTITION BY lane.tenant ORDER BY lane.wake_at, lane.no)
         LIMIT ?2",
    )?;
    let most = i64::try_from(look.most).unwrap_or(i64::MAX);
    let (agents, affinities) = (list(&look.reach.agents), list(&look.reach.affinities));
    let given = params![look.now.0.cast_signed(), most, agents, affinities];
    let lanes = statement.query_map(given, |row| row.get::<_, String>(0))?;
    Ok(lanes.map(|lane| lane.map(LaneId::from)).collect::<Result<_, _>>()?)
}

/// Lanes of `owner` in which mail lies.
pub(super) fn mailed(connection: &Connection, owner: &WorkerId) -> Result<Vec<LaneId>, Stop> {
    let mut statement = sql(
        connection,
        "SELECT DISTINCT lane.id FROM mail JOIN lane ON lane.no = mail.lane_no
         WHERE mail.read_seq IS NULL AND lane.owner = ?1",
    )?;
    let lanes = statement.query_map(params![&**owner], |row| row.get::<_, String>(0))?;
    Ok(lanes.map(|lane| lane.map(LaneId::from)).collect::<Result<_, _>>()?)
}

/// Names as one value.
fn list(names: &[Arc<str>]) -> String {
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    serde_json::to_string(&names).unwrap_or_else(|_| "[]".to_owned())
}

fn seen(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<SeenBeat>> {
    let beats = row.get::<_, i64>(at + 1)?.cast_unsigned();
    Ok(row.get::<_, Option<WorkerId>>(at)?.map(|worker| SeenBeat { worker, beats }))
}
