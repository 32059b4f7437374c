//! Shared spending, tool statistics and worker events.

use std::sync::{Arc, LazyLock};

use tokio_postgres::Row;
use tokio_postgres::types::Type;
use windlass_core::budget::spending::Spending;
use windlass_core::log::ids::{LaneId, UnixMillis};
use windlass_core::message::raw_json::RawJson;
use windlass_runtime::ports::{
    EventCount, NumberedWorkerEvent, SpendingAccount, ToolStats, WorkerEvent, WorkerEventPage,
};

use super::connection::{PgConnection, TypedSql};
use super::error::{PgError, classify_error};
use super::rows::replace_nul;
use crate::column_values;

static READ_SPENDING: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT greatest(tokens, 0), greatest(usd_micros, 0) FROM spending
         WHERE account = $1 AND period = $2";
    TypedSql::new(text, &[Type::TEXT, Type::TEXT])
});

static READ_TOOL_STATS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT tool, count(*), sum(attempts)::bigint, count(*) FILTER (WHERE attempts > 1),
             count(*) FILTER (WHERE outcome NOT IN ('done', 'answered'))
         FROM agent_tool_results
         WHERE attempts > 0 AND greatest(coalesce(started_at, 0), coalesce(completed_at, 0)) >= $1
         GROUP BY tool ORDER BY tool COLLATE \"C\"";
    TypedSql::new(text, &[Type::INT8])
});

static COUNT_EVENTS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT agent, profile, name, count(*),
             count(*) FILTER (WHERE fields NOT LIKE '%\"escalated\":false%')
         FROM event WHERE at >= $1 GROUP BY agent, profile, name
         ORDER BY agent COLLATE \"C\", profile COLLATE \"C\", name COLLATE \"C\"";
    TypedSql::new(text, &[Type::INT8])
});

static INSERT_WORKER_EVENT: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "INSERT INTO worker_event (at, worker, lane, name, fields)
         VALUES ($1, $2, $3, $4, $5)";
    TypedSql::new(text, &[Type::INT8, Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT])
});

static READ_WORKER_EVENTS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT at, worker, lane, name, fields, no FROM worker_event
         ORDER BY no DESC LIMIT $1";
    TypedSql::new(text, &[Type::INT8])
});

static AFTER: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT at, worker, lane, name, fields, no FROM worker_event
         WHERE no > $1 ORDER BY no LIMIT $2";
    TypedSql::new(text, &[Type::INT8, Type::INT8])
});

type RowResult<T> = Result<T, tokio_postgres::Error>;

pub(super) async fn read_spending(
    connection: &mut PgConnection,
    account: &SpendingAccount,
) -> Result<Spending, PgError> {
    let (profile, period) = (replace_nul(&account.profile), replace_nul(&account.period));
    let rows = connection.query(&READ_SPENDING, &[&profile, &period]).await?;
    let spent = |row: &Row| -> RowResult<Spending> {
        Ok(Spending { tokens: column_u64(row, 0)?, usd_micros: column_u64(row, 1)? })
    };
    let found = rows.first().map(spent).transpose();
    found
        .map(Option::unwrap_or_default)
        .map_err(|error| classify_error(connection.location(), &error))
}

pub(super) async fn read_tool_stats(
    connection: &mut PgConnection,
    since: UnixMillis,
) -> Result<Vec<ToolStats>, PgError> {
    let rows =
        connection.query(&READ_TOOL_STATS, &[&column_values::saturating_column(since.0)]).await?;
    let tool = |row: &Row| -> RowResult<ToolStats> {
        Ok(ToolStats {
            tool: column_text(row, 0)?,
            calls: column_u64(row, 1)?,
            attempts: column_u64(row, 2)?,
            retried: column_u64(row, 3)?,
            failed: column_u64(row, 4)?,
        })
    };
    let stats = rows.iter().map(tool).collect::<RowResult<_>>();
    stats.map_err(|error| classify_error(connection.location(), &error))
}

pub(super) async fn count_events(
    connection: &mut PgConnection,
    since: UnixMillis,
) -> Result<Vec<EventCount>, PgError> {
    let rows =
        connection.query(&COUNT_EVENTS, &[&column_values::saturating_column(since.0)]).await?;
    let event = |row: &Row| -> RowResult<EventCount> {
        let (agent, profile, name) =
            (column_text(row, 0)?, column_text(row, 1)?, column_text(row, 2)?);
        Ok(EventCount {
            agent,
            profile,
            name,
            count: column_u64(row, 3)?,
            escalated: column_u64(row, 4)?,
        })
    };
    let counts = rows.iter().map(event).collect::<RowResult<_>>();
    counts.map_err(|error| classify_error(connection.location(), &error))
}

pub(super) async fn insert_worker_event(
    connection: &mut PgConnection,
    event: &WorkerEvent,
) -> Result<(), PgError> {
    let (at, lane) =
        (column_values::saturating_column(event.at.0), event.lane.as_ref().map(LaneId::as_str));
    let (name, fields) = (replace_nul(&event.name), replace_nul(event.fields.text()));
    connection
        .query(&INSERT_WORKER_EVENT, &[&at, &&*event.worker, &lane, &name, &fields])
        .await
        .map(drop)
}

pub(super) async fn read_worker_events(
    connection: &mut PgConnection,
    page: WorkerEventPage,
    limit: usize,
) -> Result<Vec<NumberedWorkerEvent>, PgError> {
    let limit = column_values::limit_column(limit);
    let rows = match page {
        WorkerEventPage::Newest => {
            let mut newest = connection.query(&READ_WORKER_EVENTS, &[&limit]).await?;
            newest.reverse();
            newest
        }
        WorkerEventPage::After(after) => {
            connection.query(&AFTER, &[&after.cast_signed(), &limit]).await?
        }
    };
    let events = rows.iter().map(numbered_event).collect::<RowResult<_>>();
    events.map_err(|error| classify_error(connection.location(), &error))
}

fn numbered_event(row: &Row) -> RowResult<NumberedWorkerEvent> {
    let fields: String = row.try_get(4)?;
    let event = WorkerEvent {
        at: UnixMillis(column_u64(row, 0)?),
        worker: column_text(row, 1)?,
        lane: row.try_get::<_, Option<String>>(2)?.map(LaneId::from),
        name: column_text(row, 3)?,
        fields: RawJson::parse(&fields).unwrap_or_else(|_| RawJson::string(&fields)),
    };
    Ok(NumberedWorkerEvent { no: column_u64(row, 5)?, event })
}

fn column_u64(row: &Row, column: usize) -> RowResult<u64> {
    Ok(row.try_get::<_, i64>(column)?.cast_unsigned())
}

fn column_text(row: &Row, column: usize) -> RowResult<Arc<str>> {
    row.try_get::<_, String>(column).map(Arc::from)
}
