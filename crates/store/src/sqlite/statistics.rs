//! Shared spending, tool statistics and worker events.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};
use windlass_core::budget::spending::Spending;
use windlass_core::log::ids::{LaneId, UnixMillis};
use windlass_core::message::raw_json::RawJson;
use windlass_runtime::ports::{
    EventCount, NumberedWorkerEvent, SpendingAccount, SpendingChange, ToolStats, WorkerEvent,
    WorkerEventPage,
};

use super::error::WorkError;
use super::group_commit::prepare_cached;
use crate::column_values;

pub(super) fn add_spending(
    connection: &Connection,
    change: &SpendingChange,
) -> Result<(), WorkError> {
    let SpendingChange { account, tokens, usd_micros } = change;
    prepare_cached(
        connection,
        "INSERT INTO spending (account, period, tokens, usd_micros)
         VALUES (?1, ?2, max(0, ?3), max(0, ?4))
         ON CONFLICT (account, period) DO UPDATE SET
             tokens = min(1 << 62, max(0, tokens + ?3)),
             usd_micros = min(1 << 62, max(0, usd_micros + ?4))",
    )?
    .execute(params![&*account.profile, &*account.period, tokens, usd_micros])?;
    Ok(())
}

pub(super) fn read_spending(
    connection: &Connection,
    account: &SpendingAccount,
) -> Result<Spending, WorkError> {
    let found = prepare_cached(
        connection,
        "SELECT tokens, usd_micros FROM spending WHERE account = ?1 AND period = ?2",
    )?
    .query_row(params![&*account.profile, &*account.period], |row| {
        let count = |column| Ok::<_, rusqlite::Error>(row.get::<_, i64>(column)?.cast_unsigned());
        Ok(Spending { tokens: count(0)?, usd_micros: count(1)? })
    })
    .optional()?;
    Ok(found.unwrap_or_default())
}

pub(super) fn read_tool_stats(
    connection: &Connection,
    since: UnixMillis,
) -> Result<Vec<ToolStats>, WorkError> {
    let mut statement = prepare_cached(
        connection,
        "SELECT tool, count(*), sum(attempts), sum(attempts > 1),
             count(*) FILTER (WHERE outcome NOT IN ('done', 'answered'))
         FROM agent_tool_results
         WHERE attempts > 0 AND max(coalesce(started_at, 0), coalesce(completed_at, 0)) >= ?1
         GROUP BY tool ORDER BY tool",
    )?;
    let found = statement.query_map(params![column_values::saturating_column(since.0)], |row| {
        let count = |column| Ok::<_, rusqlite::Error>(row.get::<_, i64>(column)?.cast_unsigned());
        Ok(ToolStats {
            tool: row.get(0)?,
            calls: count(1)?,
            attempts: count(2)?,
            retried: count(3)?,
            failed: count(4)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn count_events(
    connection: &Connection,
    since: UnixMillis,
) -> Result<Vec<EventCount>, WorkError> {
    let mut statement = prepare_cached(
        connection,
        "SELECT agent, profile, name, count(*),
             count(*) FILTER (WHERE fields NOT LIKE '%\"escalated\":false%')
         FROM event WHERE at >= ?1 GROUP BY agent, profile, name ORDER BY agent, profile, name",
    )?;
    let found = statement.query_map(params![column_values::saturating_column(since.0)], |row| {
        Ok(EventCount {
            agent: row.get(0)?,
            profile: row.get(1)?,
            name: row.get(2)?,
            count: row.get::<_, i64>(3)?.cast_unsigned(),
            escalated: row.get::<_, i64>(4)?.cast_unsigned(),
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn insert_worker_event(
    connection: &Connection,
    event: &WorkerEvent,
) -> Result<(), WorkError> {
    prepare_cached(
        connection,
        "INSERT INTO worker_event (at, worker, lane, name, fields) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![
        column_values::saturating_column(event.at.0),
        &*event.worker,
        event.lane.as_ref().map(LaneId::as_str),
        &*event.name,
        event.fields.text(),
    ])?;
    Ok(())
}

pub(super) fn read_worker_events(
    connection: &Connection,
    page: WorkerEventPage,
    limit: usize,
) -> Result<Vec<NumberedWorkerEvent>, WorkError> {
    let limit = column_values::limit_column(limit);
    let events = match page {
        WorkerEventPage::Newest => {
            let text = "SELECT at, worker, lane, name, fields, no FROM worker_event
                 ORDER BY no DESC LIMIT ?1";
            let mut statement = prepare_cached(connection, text)?;
            let newest = statement.query_map(params![limit], numbered_event)?;
            let mut newest = newest.collect::<rusqlite::Result<Vec<_>>>()?;
            newest.reverse();
            newest
        }
        WorkerEventPage::After(after) => {
            let text = "SELECT at, worker, lane, name, fields, no FROM worker_event
                 WHERE no > ?1 ORDER BY no LIMIT ?2";
            let mut statement = prepare_cached(connection, text)?;
            let first = statement.query_map(params![after.cast_signed(), limit], numbered_event)?;
            first.collect::<rusqlite::Result<Vec<_>>>()?
        }
    };
    Ok(events)
}

fn numbered_event(row: &rusqlite::Row<'_>) -> rusqlite::Result<NumberedWorkerEvent> {
    let fields: String = row.get(4)?;
    let event = WorkerEvent {
        at: UnixMillis(row.get::<_, i64>(0)?.cast_unsigned()),
        worker: row.get::<_, Arc<str>>(1)?,
        lane: row.get::<_, Option<String>>(2)?.map(LaneId::from),
        name: row.get(3)?,
        fields: RawJson::parse(&fields).unwrap_or_else(|_| RawJson::string(&fields)),
    };
    Ok(NumberedWorkerEvent { no: row.get::<_, i64>(5)?.cast_unsigned(), event })
}
