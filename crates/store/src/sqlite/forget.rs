//! Forgetting rows that are too old, a bounded piece at a time. Every table is walked from its oldest
//! row, in the order of its numbers: no index of times has to be written for it.

use std::sync::LazyLock;

use rusqlite::{Connection, params};
use windlass_runtime::ports::{Forget, Forgotten};

use super::error::Stop;
use super::step::sql;

static ITERATIONS: LazyLock<String> =
    LazyLock::new(|| of_old_traces("DELETE FROM agent_loop_iteration WHERE trace_id IN"));
static TRACES: LazyLock<String> =
    LazyLock::new(|| of_old_traces("DELETE FROM agent_loop_trace WHERE id IN"));

/// The newest row stays, however old it is: numbers are drawn after it.
fn of_old_traces(what: &str) -> String {
    format!(
        "{what} (
             SELECT id FROM (SELECT id, ts FROM agent_loop_trace ORDER BY id LIMIT ?2)
             WHERE ts < strftime('%Y-%m-%dT%H:%M:%fZ', ?1 / 1000.0, 'unixepoch')
               AND id < (SELECT max(id) FROM agent_loop_trace))"
    )
}

/// Whether there is anything to forget. Asked first: looking costs nobody his turn to write.
pub(super) fn is_due(connection: &Connection, forget: &Forget) -> Result<bool, Stop> {
    let due = sql(
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

pub(super) fn forget(connection: &Connection, forget: &Forget) -> Result<Forgotten, Stop> {
    let most = i64::try_from(forget.most).unwrap_or(i64::MAX);
    let raw = sql(
        connection,
        "DELETE FROM raw_response
         WHERE no IN (SELECT no FROM raw_response ORDER BY no LIMIT ?2) AND at < ?1",
    )?
    .execute(params![raw_before(forget), most])?;
    let events = sql(
        connection,
        "DELETE FROM event WHERE no IN (SELECT no FROM event ORDER BY no LIMIT ?2) AND at < ?1",
    )?
    .execute(params![trace_before(forget), most])?;
    let of_workers = sql(
        connection,
        "DELETE FROM worker_event
         WHERE no IN (SELECT no FROM worker_event ORDER BY no LIMIT ?2) AND at < ?1",
    )?
    .execute(params![trace_before(forget), most])?;
    let events = events.saturating_add(of_workers);
    let old = params![trace_before(forget), most];
    sql(connection, &ITERATIONS)?.execute(old)?;
    let trace = sql(connection, &TRACES)?.execute(old)?;
    Ok(Forgotten { raw, trace, events })
}

fn raw_before(forget: &Forget) -> i64 {
    i64::try_from(forget.raw_before.0).unwrap_or(i64::MAX)
}

fn trace_before(forget: &Forget) -> i64 {
    i64::try_from(forget.trace_before.0).unwrap_or(i64::MAX)
}
