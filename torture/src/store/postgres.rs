//! PostgreSQL's tables, read past the product and past the wire that is cut.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::runtime::Builder;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, NoTls};

use super::{Lane, Row};
use crate::clock::{Deadline, pause};

/// How long a server that is being tortured may keep us waiting.
const PATIENCE: Duration = Duration::from_secs(25);

/// How long one try may take.
const TRY: Duration = Duration::from_secs(5);

/// What the dead have sent has landed by then.
const AFTERMATH: Duration = Duration::from_millis(400);

/// Between two tries.
const LOOK: Duration = Duration::from_millis(30);

/// A lane that nobody spoke to is looked at twice: the server may still be busy with what a process
/// sent before it was killed.
pub(super) fn lane(url: &str, conversation: &str) -> Result<Option<Lane>> {
    let look = || {
        patiently(|| asking(url, async |client: &Client| read(client, conversation).await))
            .with_context(|| format!("{conversation} in {url}"))
    };
    if let Some(lane) = look()?.filter(Lane::was_spoken_to) {
        return Ok(Some(lane));
    }
    pause(AFTERMATH);
    look()
}

pub(super) fn epoch(url: &str, conversation: &str) -> Result<i64> {
    let rows = asking(url, async |client: &Client| {
        let sql = "SELECT epoch FROM lane WHERE id = $1";
        Ok(Some(client.query_typed(sql, &[(&conversation, Type::TEXT)]).await?))
    });
    Ok(rows?.and_then(|rows| rows.first().map(|row| row.get(0))).unwrap_or(0))
}

pub(super) fn conversations(url: &str) -> Result<Vec<String>> {
    let rows = patiently(|| {
        asking(url, async |client: &Client| {
            Ok(Some(client.query_typed("SELECT id FROM lane ORDER BY no", &[]).await?))
        })
    });
    Ok(rows?.into_iter().flatten().map(|row| row.get(0)).collect())
}

/// One statement sees one moment.
async fn read(client: &Client, conversation: &str) -> Result<Option<Lane>> {
    client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ").await?;
    let sql = "SELECT no, epoch, head, (SELECT count(*) FROM mail
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
        entries.push(Row { seq, epoch, body: body.with_context(|| format!("entry {seq}"))? });
    }
    Ok(Some(Lane { epoch, head, entries, waiting_mail }))
}

/// Asks until it is answered: the server may be down for a moment.
fn patiently<T>(ask: impl Fn() -> Result<Option<T>>) -> Result<Option<T>> {
    let deadline = Deadline::after(PATIENCE);
    loop {
        match ask() {
            Err(_) if !deadline.has_passed() => pause(LOOK),
            outcome => return outcome,
        }
    }
}

/// Asks over a connection of its own. None if nobody has made the tables yet.
fn asking<T>(url: &str, ask: impl AsyncFnOnce(&Client) -> Result<Option<T>>) -> Result<Option<T>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let answer = runtime.block_on(async {
        timeout(TRY, async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
            tokio::spawn(connection);
            ask(&client).await
        })
        .await?
    });
    match answer {
        Err(error) if is_unmade(&error) => Ok(None),
        answer => answer,
    }
}

fn is_unmade(error: &anyhow::Error) -> bool {
    let said = error.downcast_ref::<tokio_postgres::Error>();
    said.and_then(tokio_postgres::Error::code) == Some(&SqlState::UNDEFINED_TABLE)
}
