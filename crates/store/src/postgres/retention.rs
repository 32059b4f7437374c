//! Retention: deletes rows that are too old, in bounded pieces. Every table is read from its oldest
//! row, in the order of its numbers, so no index of times has to be maintained for it. Concurrent
//! deletions of the same rows are harmless.

use std::sync::LazyLock;

use tokio_postgres::types::Type;
use windlass_runtime::ports::{DeletedRows, RetentionCutoffs};

use super::connection::{PgConnection, TypedSql};
use super::error::{PgError, classify_error};

/// Deletes old rows of all tables in one statement. The newest row of the trace is kept, as in
/// SQLite.
static FORGET_OLD_ROWS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "WITH old_raw AS (
            SELECT no FROM (SELECT no, at FROM raw_response ORDER BY no LIMIT $3) r WHERE at < $1),
        old_events AS (
            SELECT no FROM (SELECT no, at FROM event ORDER BY no LIMIT $3) e WHERE at < $2),
        old_of_workers AS (
            SELECT no FROM (SELECT no, at FROM worker_event ORDER BY no LIMIT $3) e WHERE at < $2),
        old_traces AS (
            SELECT id FROM (SELECT id, ts FROM agent_loop_trace ORDER BY id LIMIT $3) t
            WHERE ts < to_timestamp($2 / 1000.0)
              AND id < (SELECT max(id) FROM agent_loop_trace)),
        raw AS (DELETE FROM raw_response WHERE no IN (SELECT no FROM old_raw) RETURNING no),
        events AS (DELETE FROM event WHERE no IN (SELECT no FROM old_events) RETURNING no),
        of_workers AS (
            DELETE FROM worker_event WHERE no IN (SELECT no FROM old_of_workers) RETURNING no),
        iterations AS (
            DELETE FROM agent_loop_iteration WHERE trace_id IN (SELECT id FROM old_traces)),
        traces AS (DELETE FROM agent_loop_trace WHERE id IN (SELECT id FROM old_traces) RETURNING id)
        SELECT (SELECT count(*) FROM raw), (SELECT count(*) FROM traces),
            (SELECT count(*) FROM events) + (SELECT count(*) FROM of_workers)";
    TypedSql::new(text, &[Type::INT8, Type::INT8, Type::INT8])
});

pub(super) async fn forget_old_rows(
    link: &mut PgConnection,
    forget: &RetentionCutoffs,
) -> Result<DeletedRows, PgError> {
    let most = i64::try_from(forget.limit).unwrap_or(i64::MAX);
    let before = |at: u64| i64::try_from(at).unwrap_or(i64::MAX);
    let (raw, trace) = (before(forget.raw_before.0), before(forget.trace_before.0));
    let rows = link.query(&FORGET_OLD_ROWS, &[&raw, &trace, &most]).await?;
    let Some(row) = rows.first() else { return Ok(DeletedRows::default()) };
    let count = |column: usize| -> Result<usize, PgError> {
        let count: i64 =
            row.try_get(column).map_err(|error| classify_error(link.location(), &error))?;
        Ok(usize::try_from(count).unwrap_or_default())
    };
    Ok(DeletedRows { raw: count(0)?, trace: count(1)?, events: count(2)? })
}
