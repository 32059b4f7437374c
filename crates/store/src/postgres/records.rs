//! What is recorded beside the logs of lanes: shared spending, statistics, and events of workers.

use std::sync::{Arc, LazyLock};

use tokio_postgres::Row;
use tokio_postgres::types::Type;
use windlass_core::budget::Spent;
use windlass_core::ids::{LaneId, Millis};
use windlass_core::raw::Raw;
use windlass_runtime::ports::{
    EventCount, NumberedWorkerEvent, SpendingAccount, ToolStats, WorkerEvent, WorkerEventPage,
};

use super::link::{Link, Sql};
use super::text::shown;
use super::trouble::{Trouble, sort};

static SPENT: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT greatest(tokens, 0), greatest(usd_micros, 0) FROM spending
         WHERE account = $1 AND period = $2";
    Sql::new(text, &[Type::TEXT, Type::TEXT])
});

static TOOLS: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT tool, count(*), sum(attempts)::bigint, count(*) FILTER (WHERE attempts > 1),
             count(*) FILTER (WHERE outcome NOT IN ('done', 'answered'))
         FROM agent_tool_results
         WHERE attempts > 0 AND greatest(coalesce(started_at, 0), coalesce(completed_at, 0)) >= $1
         GROUP BY tool ORDER BY tool COLLATE \"C\"";
    Sql::new(text, &[Type::INT8])
});

static EVENTS: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT agent, profile, name, count(*),
             count(*) FILTER (WHERE fields NOT LIKE '%\"escalated\":false%')
         FROM event WHERE at >= $1 GROUP BY agent, profile, name
         ORDER BY agent COLLATE \"C\", profile COLLATE \"C\", name COLLATE \"C\"";
    Sql::new(text, &[Type::INT8])
});

static RECORD: LazyLock<Sql> = LazyLock::new(|| {
    let text = "INSERT INTO worker_event (at, worker, lane, name, fields)
         VALUES ($1, $2, $3, $4, $5)";
    Sql::new(text, &[Type::INT8, Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT])
});

static NEWEST: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT at, worker, lane, name, fields, no FROM worker_event
         ORDER BY no DESC LIMIT $1";
    Sql::new(text, &[Type::INT8])
});

static AFTER: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT at, worker, lane, name, fields, no FROM worker_event
         WHERE no > $1 ORDER BY no LIMIT $2";
    Sql::new(text, &[Type::INT8, Type::INT8])
});

type Reading<T> = Result<T, tokio_postgres::Error>;

pub(super) async fn spent(link: &mut Link, account: &SpendingAccount) -> Result<Spent, Trouble> {
    let (profile, period) = (shown(&account.profile), shown(&account.period));
    let rows = link.query(&SPENT, &[&profile, &period]).await?;
    let spent = |row: &Row| -> Reading<Spent> {
        Ok(Spent { tokens: count(row, 0)?, usd_micros: count(row, 1)? })
    };
    let found = rows.first().map(spent).transpose();
    found.map(Option::unwrap_or_default).map_err(|error| sort(link.place(), &error))
}

pub(super) async fn tool_stats(link: &mut Link, since: Millis) -> Result<Vec<ToolStats>, Trouble> {
    let rows = link.query(&TOOLS, &[&signed(since)]).await?;
    let tool = |row: &Row| -> Reading<ToolStats> {
        Ok(ToolStats {
            tool: text(row, 0)?,
            calls: count(row, 1)?,
            attempts: count(row, 2)?,
            retried: count(row, 3)?,
            failed: count(row, 4)?,
        })
    };
    let stats = rows.iter().map(tool).collect::<Reading<_>>();
    stats.map_err(|error| sort(link.place(), &error))
}

pub(super) async fn event_counts(
    link: &mut Link,
    since: Millis,
) -> Result<Vec<EventCount>, Trouble> {
    let rows = link.query(&EVENTS, &[&signed(since)]).await?;
    let event = |row: &Row| -> Reading<EventCount> {
        let (agent, profile, name) = (text(row, 0)?, text(row, 1)?, text(row, 2)?);
        Ok(EventCount { agent, profile, name, count: count(row, 3)?, escalated: count(row, 4)? })
    };
    let counts = rows.iter().map(event).collect::<Reading<_>>();
    counts.map_err(|error| sort(link.place(), &error))
}

pub(super) async fn record_event(link: &mut Link, event: &WorkerEvent) -> Result<(), Trouble> {
    let (at, lane) = (signed(event.at), event.lane.as_ref().map(LaneId::as_str));
    let (name, fields) = (shown(&event.name), shown(event.fields.text()));
    link.query(&RECORD, &[&at, &&*event.worker, &lane, &name, &fields]).await.map(drop)
}

pub(super) async fn worker_events(
    link: &mut Link,
    page: WorkerEventPage,
    most: usize,
) -> Result<Vec<NumberedWorkerEvent>, Trouble> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let rows = match page {
        WorkerEventPage::Newest => {
            let mut newest = link.query(&NEWEST, &[&most]).await?;
            newest.reverse();
            newest
        }
        WorkerEventPage::After(after) => link.query(&AFTER, &[&after.cast_signed(), &most]).await?,
    };
    let events = rows.iter().map(numbered_event).collect::<Reading<_>>();
    events.map_err(|error| sort(link.place(), &error))
}

fn numbered_event(row: &Row) -> Reading<NumberedWorkerEvent> {
    let fields: String = row.try_get(4)?;
    let event = WorkerEvent {
        at: Millis(count(row, 0)?),
        worker: text(row, 1)?,
        lane: row.try_get::<_, Option<String>>(2)?.map(LaneId::from),
        name: text(row, 3)?,
        fields: Raw::parse(&fields).unwrap_or_else(|_| Raw::string(&fields)),
    };
    Ok(NumberedWorkerEvent { no: count(row, 5)?, event })
}

fn count(row: &Row, column: usize) -> Reading<u64> {
    Ok(row.try_get::<_, i64>(column)?.cast_unsigned())
}

fn text(row: &Row, column: usize) -> Reading<Arc<str>> {
    row.try_get::<_, String>(column).map(Arc::from)
}

fn signed(at: Millis) -> i64 {
    i64::try_from(at.0).unwrap_or(i64::MAX)
}
