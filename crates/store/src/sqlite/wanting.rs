//! Lanes that want to be driven. What is asked here is asked twice a second, so it only walks lanes
//! that have mail, are due, or belong to somebody dead: never all of them.

use rusqlite::{Connection, Row, params};
use windlass_core::ids::LaneId;
use windlass_runtime::ports::{Look, SeenBeat, Wanting, WorkerId};

use super::error::Stop;
use super::step::sql;

pub(super) fn owners(connection: &Connection) -> Result<Vec<SeenBeat>, Stop> {
    let mut statement = sql(
        connection,
        "SELECT owner, coalesce((SELECT beats FROM worker WHERE worker_id = owner), 0)
         FROM (SELECT DISTINCT owner FROM lane WHERE owner IS NOT NULL)",
    )?;
    let rows = statement.query_map([], |row| seen(row, 0))?;
    let owners: Vec<Option<SeenBeat>> = rows.collect::<Result<_, _>>()?;
    Ok(owners.into_iter().flatten().collect())
}

pub(super) fn claimable(connection: &Connection, look: &Look) -> Result<Vec<Wanting>, Stop> {
    let mut statement = sql(
        connection,
        "WITH dead (worker) AS (SELECT value FROM json_each(?2)),
              wants (no) AS (
                  SELECT lane_no FROM mail WHERE read_seq IS NULL
                  UNION
                  SELECT no FROM lane WHERE owner IS NULL AND wake_at <= ?1
                  UNION
                  SELECT no FROM lane WHERE owner IN (SELECT worker FROM dead) AND wake_at <= ?1)
         SELECT lane.id, lane.owner, coalesce(worker.beats, 0)
         FROM wants JOIN lane ON lane.no = wants.no
         LEFT JOIN worker ON worker.worker_id = lane.owner
         WHERE lane.owner IS NULL OR lane.owner IN (SELECT worker FROM dead)
         ORDER BY row_number() OVER (PARTITION BY lane.tenant ORDER BY lane.wake_at, lane.no)
         LIMIT ?3",
    )?;
    let names: Vec<&str> = look.dead.iter().map(|dead| &*dead.worker).collect();
    let dead = serde_json::to_string(&names).unwrap_or_else(|_| "[]".to_owned());
    let most = i64::try_from(look.most).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![look.now.0.cast_signed(), dead, most], wanting)?;
    let found: Vec<Wanting> = rows.collect::<Result<_, _>>()?;
    let still = |owner: &SeenBeat| look.dead.contains(owner);
    Ok(found.into_iter().filter(|found| found.left_by.as_ref().is_none_or(still)).collect())
}

fn wanting(row: &Row<'_>) -> rusqlite::Result<Wanting> {
    Ok(Wanting { lane: LaneId::from(row.get::<_, String>(0)?), left_by: seen(row, 1)? })
}

fn seen(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<SeenBeat>> {
    let beats = row.get::<_, i64>(at + 1)?.cast_unsigned();
    Ok(row.get::<_, Option<WorkerId>>(at)?.map(|worker| SeenBeat { worker, beats }))
}
