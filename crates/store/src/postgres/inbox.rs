//! The inbox: enqueueing messages and reading unread ones.

use std::collections::HashSet;
use std::sync::LazyLock;

use tokio_postgres::Row;
use tokio_postgres::types::Type;
use windlass_core::log::ids::{InboxMessageId, LaneId, UnixMillis};
use windlass_core::log::inbox::InboxMessage;
use windlass_runtime::ports::StoreError;

use super::connection::{PgConnection, TypedSql};
use super::error::{PgError, classify_error};
use crate::column_values;
use crate::encoding::EncodedMessage;
use crate::pending_runs::{PendingMessage, RUN_MESSAGE_KINDS};

/// How often a message id is retried that another sender takes at the same moment.
const MAX_ID_ATTEMPTS: u32 = 200;

/// Enqueues a message and creates the lane if it is new, with the affinity of the sender. The next
/// id is taken without a lock: of two senders that take the same one, the second inserts nothing
/// and retries, so senders never wait for the lane's owner. A known idempotency key inserts nothing
/// either, and its message is then found.
static ENQUEUE_MESSAGE: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "WITH made AS (
            INSERT INTO lane (id, tenant, agent, affinity, folder)
            SELECT $1, coalesce(s.tenant, 'default'), coalesce(s.agent, ''),
                coalesce(s.affinity, ''), coalesce(s.folder, '')
            FROM (VALUES (1)) AS one (row) LEFT JOIN lane s ON s.id = $5
            WHERE NOT EXISTS (SELECT 1 FROM lane WHERE id = $1)
            ON CONFLICT DO NOTHING RETURNING no),
        sent AS (
            INSERT INTO inbox (lane_no, message_id, idempotency_key, kind, body)
            SELECT place.no, 1 + coalesce(
                (SELECT max(m.message_id) FROM inbox m WHERE m.lane_no = place.no), 0), $2, $3, $4
            FROM (SELECT no FROM lane WHERE id = $1 UNION ALL SELECT no FROM made) AS place
            ON CONFLICT DO NOTHING RETURNING message_id)
        SELECT message_id FROM sent
        UNION ALL
        SELECT inbox.message_id FROM lane JOIN inbox ON inbox.lane_no = lane.no
        WHERE lane.id = $1 AND inbox.idempotency_key = $2";
    TypedSql::new(text, &[Type::TEXT, Type::TEXT, Type::TEXT, Type::BYTEA, Type::TEXT])
});

/// Reads unread messages. A lane without messages gives one row of nulls; an unknown lane gives no
/// row.
static PENDING_MESSAGES: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT inbox.message_id, inbox.body FROM lane
         LEFT JOIN inbox ON inbox.lane_no = lane.no AND inbox.read_seq IS NULL
         WHERE lane.id = $1 ORDER BY inbox.message_id LIMIT $2";
    TypedSql::new(text, &[Type::TEXT, Type::INT8])
});

static RUN_MESSAGES: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT lane.id, inbox.body, (extract(epoch FROM inbox.at) * 1000)::bigint,
             lane.folder, lane.agent, lane.tenant
         FROM inbox JOIN lane ON lane.no = inbox.lane_no
         WHERE inbox.read_seq IS NULL AND inbox.kind = ANY($2) AND ($1 IS NULL OR lane.id = $1)
         ORDER BY inbox.at DESC, inbox.message_id DESC LIMIT $3";
    TypedSql::new(text, &[Type::TEXT, Type::TEXT_ARRAY, Type::INT8])
});

/// Enqueues a message; a known idempotency key returns the id of its first message.
pub(super) async fn enqueue_message(
    connection: &mut PgConnection,
    lane: &LaneId,
    message: &EncodedMessage,
    sender: Option<&LaneId>,
) -> Result<InboxMessageId, PgError> {
    let sender = sender.map(LaneId::as_str);
    for _ in 0..MAX_ID_ATTEMPTS {
        let values: [super::connection::SqlValue<'_>; 5] =
            [&lane.as_str(), &&*message.key, &message.kind, &message.body.as_bytes(), &sender];
        let rows = connection.query(&ENQUEUE_MESSAGE, &values).await?;
        if let Some(row) = rows.first() {
            return parse_message_id(connection, row);
        }
    }
    let reason = format!(
        "the next message id of lane {lane} was taken by another sender {MAX_ID_ATTEMPTS} times"
    );
    Err(PgError::Retry(StoreError::Broken { location: connection.location().to_owned(), reason }))
}

fn parse_message_id(connection: &PgConnection, row: &Row) -> Result<InboxMessageId, PgError> {
    let id =
        row.try_get::<_, i64>(0).map_err(|error| classify_error(connection.location(), &error))?;
    Ok(id.cast_unsigned())
}

pub(super) async fn pending_messages(
    connection: &mut PgConnection,
    lane: &LaneId,
    limit: usize,
) -> Result<Vec<InboxMessage>, PgError> {
    // At least one row is read: it tells whether the lane exists.
    let rows_read = column_values::limit_column(limit).max(1);
    let rows = connection.query(&PENDING_MESSAGES, &[&lane.as_str(), &rows_read]).await?;
    if rows.is_empty() {
        return Err(PgError::Rejected(StoreError::LaneNotFound { lane: lane.clone() }));
    }
    let mut found = Vec::new();
    for row in rows.iter().take(limit) {
        found.extend(parse_message(connection, row)?);
    }
    Ok(found)
}

fn parse_message(connection: &PgConnection, row: &Row) -> Result<Option<InboxMessage>, PgError> {
    let classify = |error: tokio_postgres::Error| classify_error(connection.location(), &error);
    let Some(id) = row.try_get::<_, Option<i64>>(0).map_err(classify)? else { return Ok(None) };
    let body = row.try_get::<_, &[u8]>(1).map_err(classify)?;
    decode_message(connection, id, body).map(Some)
}

/// Decodes a message from its columns.
pub(super) fn decode_message(
    connection: &PgConnection,
    id: i64,
    body: &[u8],
) -> Result<InboxMessage, PgError> {
    let body = serde_json::from_slice(body).map_err(|error| {
        let (location, reason) = (connection.location().to_owned(), error.to_string());
        PgError::Rejected(StoreError::Corrupt { location, reason })
    })?;
    Ok(InboxMessage { id: id.cast_unsigned(), body })
}

/// Returns unread messages about runs, newest first. One that cannot be decoded affects its own
/// lane, not every list.
pub(super) async fn run_messages(
    connection: &mut PgConnection,
    lane: Option<&LaneId>,
    limit: i64,
) -> Result<Vec<PendingMessage>, PgError> {
    let kinds = RUN_MESSAGE_KINDS.to_vec();
    let values: [super::connection::SqlValue<'_>; 3] = [&lane.map(LaneId::as_str), &kinds, &limit];
    let rows = connection.query(&RUN_MESSAGES, &values).await?;
    let mut found = Vec::new();
    for row in &rows {
        let classify = |error: tokio_postgres::Error| classify_error(connection.location(), &error);
        let Ok(body) = serde_json::from_slice(row.try_get::<_, &[u8]>(1).map_err(classify)?) else {
            continue;
        };
        found.push(PendingMessage {
            lane: LaneId::from(row.try_get::<_, String>(0).map_err(classify)?),
            at: UnixMillis(row.try_get::<_, i64>(2).map_err(classify)?.cast_unsigned()),
            body,
            folder: row.try_get::<_, &str>(3).map_err(classify)?.into(),
            agent: row.try_get::<_, &str>(4).map_err(classify)?.into(),
            tenant: row.try_get::<_, &str>(5).map_err(classify)?.into(),
        });
    }
    Ok(found)
}

/// Returns the first of these messages that is not pending, because it does not exist or was read.
pub(super) async fn first_not_pending(
    connection: &mut PgConnection,
    lane: &LaneId,
    messages: &[InboxMessageId],
) -> Result<Option<InboxMessageId>, PgError> {
    let there = pending_messages(connection, lane, usize::MAX).await?;
    let mut there: HashSet<InboxMessageId> = there.into_iter().map(|message| message.id).collect();
    Ok(messages.iter().copied().find(|message| !there.remove(message)))
}
