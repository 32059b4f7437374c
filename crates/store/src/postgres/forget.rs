//! Forgetting rows that are too old, a bounded piece at a time. Every table is walked from its oldest
//! row, in the order of its numbers: no index of times has to be written for it. What somebody else
//! forgets at the same moment is forgotten once.

use std::sync::LazyLock;

use tokio_postgres::types::Type;
use windlass_runtime::ports::{Forget, Forgotten};

use super::link::{Link, Sql};
use super::trouble::{Trouble, sort};

/// All of it is one statement. The newest row of the trace stays, as it does in the file.
static FORGET: LazyLock<Sql> = LazyLock::new(|| {
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
    Sql::new(text, &[Type::INT8, Type::INT8, Type::INT8])
});

pub(super) async fn forget(link: &mut Link, forget: &Forget) -> Result<Forgotten, Trouble> {
    let most = i64::try_from(forget.most).unwrap_or(i64::MAX);
    let before = |at: u64| i64::try_from(at).unwrap_or(i64::MAX);
    let (raw, trace) = (before(forget.raw_before.0), before(forget.trace_before.0));
    let rows = link.query(&FORGET, &[&raw, &trace, &most]).await?;
    let Some(row) = rows.first() else { return Ok(Forgotten::default()) };
    let count = |column: usize| -> Result<usize, Trouble> {
        let count: i64 = row.try_get(column).map_err(|error| sort(link.place(), &error))?;
        Ok(usize::try_from(count).unwrap_or_default())
    };
    Ok(Forgotten { raw: count(0)?, trace: count(1)?, events: count(2)? })
}
