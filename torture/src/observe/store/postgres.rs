//! Reads PostgreSQL's tables directly, without the product's code and not through the proxy.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::runtime::Builder;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, NoTls};

use super::{StoredEntry, StoredLane};
use crate::process::clock::{Deadline, pause};

/// How long to wait for a server that is under faults.
const OUTAGE_TIMEOUT: Duration = Duration::from_secs(25);

/// Time limit of one attempt.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(5);

/// By then the server has processed what killed processes have sent.
const SETTLE_TIME: Duration = Duration::from_millis(400);

/// Time between two attempts.
const RETRY_INTERVAL: Duration = Duration::from_millis(30);

/// Reads a lane. One without a prompt is read twice: the server may still be busy with what a
/// process sent before it was killed.
pub(super) fn read_lane(url: &str, conversation: &str) -> Result<Option<StoredLane>> {
    let look = || {
        retry_until_answered(|| {
            with_client(url, async |client: &Client| query_lane(client, conversation).await)
        })
        .with_context(|| format!("{conversation} in {url}"))
    };
    if let Some(lane) = look()?.filter(StoredLane::has_prompt) {
        return Ok(Some(lane));
    }
    pause(SETTLE_TIME);
    look()
}

pub(super) fn read_epoch(url: &str, conversation: &str) -> Result<i64> {
    let rows = with_client(url, async |client: &Client| {
        let sql = "SELECT epoch FROM lane WHERE id = $1";
        Ok(Some(client.query_typed(sql, &[(&conversation, Type::TEXT)]).await?))
    });
    Ok(rows?.and_then(|rows| rows.first().map(|row| row.get(0))).unwrap_or(0))
}

pub(super) fn list_conversations(url: &str) -> Result<Vec<String>> {
    let rows = retry_until_answered(|| {
        with_client(url, async |client: &Client| {
            Ok(Some(client.query_typed("SELECT id FROM lane ORDER BY no", &[]).await?))
        })
    });
    Ok(rows?.into_iter().flatten().map(|row| row.get(0)).collect())
}

/// Reads the lane with one statement, which sees a consistent state.
async fn query_lane(client: &Client, conversation: &str) -> Result<Option<StoredLane>> {
    client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ").await?;
    let sql = "SELECT no, epoch, head, (SELECT count(*) FROM inbox
                 WHERE lane_no = lane.no AND read_seq IS NULL) FROM lane WHERE id = $1";
    let found = client.query_typed(sql, &[(&conversation, Type::TEXT)]).await?;
    let Some(lane) = found.first() else { return Ok(None) };
    let (no, epoch, head, waiting_mail): (i64, i64, i64, i64) =
        (lane.get(0), lane.get(1), lane.get(2), lane.get(3));
    let sql = "SELECT seq, epoch, coalesce(body, (SELECT bytes FROM blob WHERE hash = entry.blob))
               FROM entry WHERE lane_no = $1 ORDER BY seq";
    let mut entries = Vec::new();
    for row in client.query_typed(sql, &[(&no, Type::INT8)]).await? {
        let (seq, epoch): (i64, i64) = (row.get(0), row.get(1));
        let body = serde_json::from_slice(row.get::<_, &[u8]>(2));
        entries.push(StoredEntry {
            seq,
            epoch,
            body: body.with_context(|| format!("entry {seq}"))?,
        });
    }
    Ok(Some(StoredLane { epoch, head, entries, waiting_mail }))
}

/// Retries until the server answers: it may be down for a moment.
fn retry_until_answered<T>(ask: impl Fn() -> Result<Option<T>>) -> Result<Option<T>> {
    let deadline = Deadline::after(OUTAGE_TIMEOUT);
    loop {
        match ask() {
            Err(_) if !deadline.has_passed() => pause(RETRY_INTERVAL),
            outcome => return outcome,
        }
    }
}

/// Runs a query on a connection of its own; `None` if the tables do not exist yet.
fn with_client<T>(
    url: &str,
    ask: impl AsyncFnOnce(&Client) -> Result<Option<T>>,
) -> Result<Option<T>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let answer = runtime.block_on(async {
        timeout(ATTEMPT_TIMEOUT, async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
            tokio::spawn(connection);
            ask(&client).await
        })
        .await?
    });
    match answer {
        Err(error) if is_missing_table(&error) => Ok(None),
        answer => answer,
    }
}

fn is_missing_table(error: &anyhow::Error) -> bool {
    let said = error.downcast_ref::<tokio_postgres::Error>();
    said.and_then(tokio_postgres::Error::code) == Some(&SqlState::UNDEFINED_TABLE)
}
