//! Removing a lane, the lanes of its sub-agents, and everything stored for them, in one transaction.

use rusqlite::{Connection, OptionalExtension, params};
use windlass_core::child;
use windlass_core::ids::LaneId;
use windlass_runtime::ports::{Removed, SeenBeat, StoreError, WorkerId};

use super::error::Stop;
use super::step::sql;
use crate::valid::refusal;

/// What lies in other tables, in an order that no reference objects to. `?1` is the lane.
const TABLES: [&str; 8] = [
    "DELETE FROM agent_loop_iteration WHERE trace_id IN (SELECT t.id FROM agent_loop_trace AS t
         JOIN run ON run.run_id = t.job_id WHERE run.lane_no = ?1)",
    "DELETE FROM agent_loop_trace WHERE job_id IN (SELECT run_id FROM run WHERE lane_no = ?1)",
    "DELETE FROM agent_tool_results WHERE run_id IN (SELECT run_id FROM run WHERE lane_no = ?1)",
    "DELETE FROM event WHERE lane_no = ?1",
    "DELETE FROM raw_response WHERE lane_no = ?1",
    "DELETE FROM run WHERE lane_no = ?1",
    "DELETE FROM mail WHERE lane_no = ?1",
    "DELETE FROM entry WHERE lane_no = ?1",
];

/// A lane that is to go.
struct Doomed {
    no: i64,
    lane: LaneId,
}

pub(super) fn remove(connection: &Connection, lane: &LaneId) -> Result<Removed, Stop> {
    // What is removed is overwritten. Elsewhere only pages are that are written anyway.
    connection.pragma_update(None, "secure_delete", "ON")?;
    let removed = remove_family(connection, lane);
    connection.pragma_update(None, "secure_delete", "FAST")?;
    removed
}

fn remove_family(connection: &Connection, lane: &LaneId) -> Result<Removed, Stop> {
    let doomed = family(connection, lane)?;
    if doomed.iter().all(|found| found.lane != *lane) {
        return Err(Stop::Refused(StoreError::NoLane { lane: lane.clone() }));
    }
    let mut removed = Removed::default();
    for Doomed { no, lane } in doomed {
        check_forks(connection, no, &lane)?;
        removed.entries += remove_one(connection, no)?;
        removed.lanes.push(lane);
    }
    Ok(removed)
}

/// The lane and those of its sub-agents, whose names begin with its own.
fn family(connection: &Connection, lane: &LaneId) -> Result<Vec<Doomed>, Stop> {
    let mut statement = sql(
        connection,
        "SELECT lane.no, lane.id, lane.owner, coalesce(worker.beats, 0),
             active_run IS NOT NULL OR EXISTS (SELECT 1 FROM mail
                 WHERE mail.lane_no = lane.no AND read_seq IS NULL AND kind = 'prompt')
         FROM lane LEFT JOIN worker ON worker.worker_id = lane.owner
         WHERE lane.id = ?1 OR (lane.id > ?2 AND lane.id < ?3) ORDER BY lane.no DESC",
    )?;
    // All names that begin with its own and a slash: "0" is the character after it.
    let (after, before) = (format!("{lane}/"), format!("{lane}0"));
    let mut rows = statement.query(params![lane.as_str(), after, before])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let other = LaneId::from(row.get::<_, String>(1)?);
        if other != *lane && !child::is_descendant(lane, &other) {
            continue;
        }
        let lane = other;
        if let Some(worker) = row.get::<_, Option<WorkerId>>(2)? {
            let owner = SeenBeat { worker, beats: row.get::<_, i64>(3)?.cast_unsigned() };
            return Err(Stop::Refused(StoreError::Busy { lane, owner }));
        }
        if row.get(4)? {
            return Err(Stop::Refused(refusal::unfinished(&lane)));
        }
        found.push(Doomed { no: row.get(0)?, lane });
    }
    Ok(found)
}

fn check_forks(connection: &Connection, no: i64, lane: &LaneId) -> Result<(), Stop> {
    let fork: Option<String> = sql(connection, "SELECT id FROM lane WHERE parent = ?1 LIMIT 1")?
        .query_row([no], |row| row.get(0))
        .optional()?;
    match fork {
        None => Ok(()),
        Some(fork) => Err(Stop::Undo(refusal::has_forks(lane, &LaneId::from(fork)))),
    }
}

fn remove_one(connection: &Connection, no: i64) -> Result<u64, Stop> {
    let mut large: Vec<Vec<u8>> = Vec::new();
    {
        let mut statement = sql(
            connection,
            "SELECT DISTINCT blob FROM entry WHERE lane_no = ?1 AND blob IS NOT NULL",
        )?;
        let mut rows = statement.query([no])?;
        while let Some(row) = rows.next()? {
            large.push(row.get(0)?);
        }
    }
    let mut entries = 0;
    for text in TABLES {
        entries = sql(connection, text)?.execute([no])?;
    }
    for hash in large {
        sql(
            connection,
            "DELETE FROM blob WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM entry WHERE blob = ?1)",
        )?
        .execute([hash])?;
    }
    sql(connection, "DELETE FROM lane WHERE no = ?1")?.execute([no])?;
    Ok(entries as u64)
}
