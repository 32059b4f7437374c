//! Removing a lane, the lanes of its sub-agents, and everything stored for them, in one transaction.

use rusqlite::{Connection, OptionalExtension, params};
use windlass_core::log::ids::LaneId;
use windlass_core::run::child_runs;
use windlass_runtime::ports::{ObservedHeartbeat, RemovedLanes, StoreError, WorkerId};

use super::error::WorkError;
use super::write_work::prepare_cached;
use crate::validation::rejection;

/// Deletes the rows of other tables, in an order that violates no reference. `?1` is the lane.
const DELETE_STATEMENTS: [&str; 8] = [
    "DELETE FROM agent_loop_iteration WHERE trace_id IN (SELECT t.id FROM agent_loop_trace AS t
         JOIN run ON run.run_id = t.job_id WHERE run.lane_no = ?1)",
    "DELETE FROM agent_loop_trace WHERE job_id IN (SELECT run_id FROM run WHERE lane_no = ?1)",
    "DELETE FROM agent_tool_results WHERE run_id IN (SELECT run_id FROM run WHERE lane_no = ?1)",
    "DELETE FROM event WHERE lane_no = ?1",
    "DELETE FROM raw_response WHERE lane_no = ?1",
    "DELETE FROM run WHERE lane_no = ?1",
    "DELETE FROM inbox WHERE lane_no = ?1",
    "DELETE FROM entry WHERE lane_no = ?1",
];

/// A lane to be removed.
struct RemovableLane {
    no: i64,
    lane: LaneId,
}

pub(super) fn remove_lanes(
    connection: &Connection,
    lane: &LaneId,
) -> Result<RemovedLanes, WorkError> {
    // Deleted content is overwritten. Otherwise only pages are overwritten that are written anyway.
    connection.pragma_update(None, "secure_delete", "ON")?;
    let removed = remove_family(connection, lane);
    connection.pragma_update(None, "secure_delete", "FAST")?;
    removed
}

fn remove_family(connection: &Connection, lane: &LaneId) -> Result<RemovedLanes, WorkError> {
    let doomed = find_lane_tree(connection, lane)?;
    if doomed.iter().all(|found| found.lane != *lane) {
        return Err(WorkError::Rejected(StoreError::LaneNotFound { lane: lane.clone() }));
    }
    let mut removed = RemovedLanes::default();
    for RemovableLane { no, lane } in doomed {
        check_forks(connection, no, &lane)?;
        removed.entries += delete_lane_rows(connection, no)?;
        removed.lanes.push(lane);
    }
    Ok(removed)
}

/// Returns the lane and those of its sub-agents, whose names begin with its own.
fn find_lane_tree(connection: &Connection, lane: &LaneId) -> Result<Vec<RemovableLane>, WorkError> {
    let mut statement = prepare_cached(
        connection,
        "SELECT lane.no, lane.id, lane.owner, coalesce(worker.heartbeats, 0),
             active_run IS NOT NULL OR EXISTS (SELECT 1 FROM inbox
                 WHERE inbox.lane_no = lane.no AND read_seq IS NULL AND kind = 'prompt')
         FROM lane LEFT JOIN worker ON worker.worker_id = lane.owner
         WHERE lane.id = ?1 OR (lane.id > ?2 AND lane.id < ?3) ORDER BY lane.no DESC",
    )?;
    // All names that begin with its own and a slash: "0" is the character after the slash.
    let (after, before) = (format!("{lane}/"), format!("{lane}0"));
    let mut rows = statement.query(params![lane.as_str(), after, before])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let other = LaneId::from(row.get::<_, String>(1)?);
        if other != *lane && !child_runs::is_descendant(lane, &other) {
            continue;
        }
        let lane = other;
        if let Some(worker) = row.get::<_, Option<WorkerId>>(2)? {
            let owner =
                ObservedHeartbeat { worker, heartbeats: row.get::<_, i64>(3)?.cast_unsigned() };
            return Err(WorkError::Rejected(StoreError::Busy { lane, owner }));
        }
        if row.get(4)? {
            return Err(WorkError::Rejected(rejection::unfinished_run(&lane)));
        }
        found.push(RemovableLane { no: row.get(0)?, lane });
    }
    Ok(found)
}

fn check_forks(connection: &Connection, no: i64, lane: &LaneId) -> Result<(), WorkError> {
    let fork: Option<String> =
        prepare_cached(connection, "SELECT id FROM lane WHERE fork_parent = ?1 LIMIT 1")?
            .query_row([no], |row| row.get(0))
            .optional()?;
    match fork {
        None => Ok(()),
        Some(fork) => Err(WorkError::RollBack(rejection::has_forks(lane, &LaneId::from(fork)))),
    }
}

fn delete_lane_rows(connection: &Connection, no: i64) -> Result<u64, WorkError> {
    let mut large: Vec<Vec<u8>> = Vec::new();
    {
        let mut statement = prepare_cached(
            connection,
            "SELECT DISTINCT blob FROM entry WHERE lane_no = ?1 AND blob IS NOT NULL",
        )?;
        let mut rows = statement.query([no])?;
        while let Some(row) = rows.next()? {
            large.push(row.get(0)?);
        }
    }
    let mut entries = 0;
    for text in DELETE_STATEMENTS {
        entries = prepare_cached(connection, text)?.execute([no])?;
    }
    for hash in large {
        prepare_cached(
            connection,
            "DELETE FROM blob WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM entry WHERE blob = ?1)",
        )?
        .execute([hash])?;
    }
    prepare_cached(connection, "DELETE FROM lane WHERE no = ?1")?.execute([no])?;
    Ok(entries as u64)
}
