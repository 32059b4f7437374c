//! Retention: deletes rows that are too old, in bounded pieces. Every table is read from its oldest
//! row, in the order of its numbers, so no index of times has to be maintained for it.

use std::sync::LazyLock;

use rusqlite::{Connection, params};
use windlass_runtime::ports::{DeletedRows, RetentionCutoffs};

use super::error::WorkError;
use super::write_work::prepare_cached;

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
        "SELECT coalesce((SELECT at FROM raw_response ORDER BY no LIMIT 1) < ?1, 0)
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
    let most = i64::try_from(forget.limit).unwrap_or(i64::MAX);
    let raw = prepare_cached(
        connection,
        "DELETE FROM raw_response
         WHERE no IN (SELECT no FROM raw_response ORDER BY no LIMIT ?2) AND at < ?1",
    )?
    .execute(params![raw_before(forget), most])?;
    let events = prepare_cached(
        connection,
        "DELETE FROM event WHERE no IN (SELECT no FROM event ORDER BY no LIMIT ?2) AND at < ?1",
    )?
    .execute(params![trace_before(forget), most])?;
    let of_workers = prepare_cached(
        connection,
        "DELETE FROM worker_event
         WHERE no IN (SELECT no FROM worker_event ORDER BY no LIMIT ?2) AND at < ?1",
    )?
    .execute(params![trace_before(forget), most])?;
    let events = events.saturating_add(of_workers);
    let old = params![trace_before(forget), most];
    prepare_cached(connection, &DELETE_OLD_ITERATIONS)?.execute(old)?;
    let trace = prepare_cached(connection, &DELETE_OLD_TRACES)?.execute(old)?;
    Ok(DeletedRows { raw, trace, events })
}

fn raw_before(forget: &RetentionCutoffs) -> i64 {
    i64::try_from(forget.raw_before.0).unwrap_or(i64::MAX)
}

fn trace_before(forget: &RetentionCutoffs) -> i64 {
    i64::try_from(forget.trace_before.0).unwrap_or(i64::MAX)
}
