//! Deletion: of a lane with everything stored for it and its sub-agents, and of rows that are too
//! old (retention).

use std::sync::LazyLock;

use rusqlite::{Connection, OptionalExtension, params};
use windlass_core::log::ids::LaneId;
use windlass_core::run::child_runs;
use windlass_runtime::ports::{
    DeletedRows, ObservedHeartbeat, RemovedLanes, RetentionCutoffs, StoreError, WorkerId,
};

use super::error::WorkError;
use super::group_commit::prepare_cached;
use super::raw_retention;
use crate::column_values;
use crate::validation::rejection;

/// Deletes the rows of other tables, in an order that violates no reference. `?1` is the lane.
const DELETE_STATEMENTS: [&str; 7] = [
    "DELETE FROM agent_loop_iteration WHERE trace_id IN (SELECT t.id FROM agent_loop_trace AS t
         JOIN run ON run.run_id = t.job_id WHERE run.lane_no = ?1)",
    "DELETE FROM agent_loop_trace WHERE job_id IN (SELECT run_id FROM run WHERE lane_no = ?1)",
    "DELETE FROM agent_tool_results WHERE run_id IN (SELECT run_id FROM run WHERE lane_no = ?1)",
    "DELETE FROM event WHERE lane_no = ?1",
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
    raw_retention::stay_within_entries(connection)?;
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

static DELETE_OLD_ITERATIONS: LazyLock<String> =
    LazyLock::new(|| old_traces_sql("DELETE FROM agent_loop_iteration WHERE trace_id IN"));
static DELETE_OLD_TRACES: LazyLock<String> =
    LazyLock::new(|| old_traces_sql("DELETE FROM agent_loop_trace WHERE id IN"));

/// Selects old traces. The newest row is kept, however old it is: new numbers continue from it.
fn old_traces_sql(what: &str) -> String {
    format!(
        "{what} (
             SELECT id FROM (SELECT id, ts FROM agent_loop_trace ORDER BY id LIMIT ?2)
             WHERE ts < strftime('%Y-%m-%dT%H:%M:%fZ', ?1 / 1000.0, 'unixepoch')
               AND id < (SELECT max(id) FROM agent_loop_trace))"
    )
}

/// Returns whether there is anything to delete. A reader asks this first, so that the write lock is
/// not taken for nothing.
pub(super) fn has_old_rows(
    connection: &Connection,
    forget: &RetentionCutoffs,
) -> Result<bool, WorkError> {
    let due = prepare_cached(
        connection,
        "SELECT coalesce((SELECT coalesce(raw_at, at) FROM entry
                 WHERE no > (SELECT deleted_to FROM raw_retention) ORDER BY no LIMIT 1) < ?1, 0)
             OR coalesce((SELECT at FROM event ORDER BY no LIMIT 1) < ?2, 0)
             OR coalesce((SELECT at FROM worker_event ORDER BY no LIMIT 1) < ?2, 0)
             OR coalesce((SELECT ts FROM agent_loop_trace ORDER BY id LIMIT 1)
                    < strftime('%Y-%m-%dT%H:%M:%fZ', ?2 / 1000.0, 'unixepoch'), 0)",
    )?
    .query_row(params![raw_before(forget), trace_before(forget)], |row| row.get(0))?;
    Ok(due)
}

pub(super) fn forget_old_rows(
    connection: &Connection,
    forget: &RetentionCutoffs,
) -> Result<DeletedRows, WorkError> {
    let limit = column_values::limit_column(forget.limit);
    let raw = raw_retention::delete_old(connection, raw_before(forget), forget.limit)?;
    let events = prepare_cached(
        connection,
        "DELETE FROM event WHERE no IN (SELECT no FROM event ORDER BY no LIMIT ?2) AND at < ?1",
    )?
    .execute(params![trace_before(forget), limit])?;
    let of_workers = prepare_cached(
        connection,
        "DELETE FROM worker_event
         WHERE no IN (SELECT no FROM worker_event ORDER BY no LIMIT ?2) AND at < ?1",
    )?
    .execute(params![trace_before(forget), limit])?;
    let events = events.saturating_add(of_workers);
    let old = params![trace_before(forget), limit];
    prepare_cached(connection, &DELETE_OLD_ITERATIONS)?.execute(old)?;
    let trace = prepare_cached(connection, &DELETE_OLD_TRACES)?.execute(old)?;
    Ok(DeletedRows { raw, trace, events })
}

fn raw_before(forget: &RetentionCutoffs) -> i64 {
    column_values::saturating_column(forget.raw_before.0)
}

fn trace_before(forget: &RetentionCutoffs) -> i64 {
    column_values::saturating_column(forget.trace_before.0)
}
