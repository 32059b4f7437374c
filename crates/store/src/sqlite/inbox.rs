//! The inbox: enqueueing messages, reading unread ones, and marking them as read.

use rusqlite::{Connection, OptionalExtension, Row, params};
use windlass_core::log::ids::{InboxMessageId, LaneId, Seq, UnixMillis};
use windlass_core::log::inbox::{InboxCommand, InboxMessage};
use windlass_runtime::ports::StoreError;

use super::database_file;
use super::error::WorkError;
use super::group_commit::prepare_cached;
use super::lane_reads::find_lane_no;
use crate::column_values;
use crate::encoding::EncodedMessage;
use crate::pending_runs::{PendingMessage, RUN_MESSAGE_KINDS};

/// Enqueues a message and creates the lane if it is new, with the affinity of the sender. A known
/// idempotency key returns the id of its first message.
pub(super) fn enqueue_message(
    connection: &Connection,
    lane: &LaneId,
    message: &EncodedMessage,
    sender: Option<i64>,
) -> Result<InboxMessageId, WorkError> {
    let lane_no = ensure_lane(connection, lane, sender)?;
    match find_by_key(connection, lane_no, &message.key)? {
        Some(first) => Ok(first),
        None => insert_message(connection, lane_no, message),
    }
}

fn ensure_lane(
    connection: &Connection,
    lane: &LaneId,
    sender: Option<i64>,
) -> Result<i64, WorkError> {
    if let Some(no) = find_lane_no(connection, lane)? {
        return Ok(no);
    }
    match sender {
        None => prepare_cached(connection, "INSERT INTO lane (id) VALUES (?1)")?
            .execute([lane.as_str()])?,
        Some(sender) => prepare_cached(
            connection,
            "INSERT INTO lane (id, tenant, agent, affinity, folder)
             SELECT ?1, tenant, agent, affinity, folder FROM lane WHERE no = ?2",
        )?
        .execute(params![lane.as_str(), sender])?,
    };
    Ok(connection.last_insert_rowid())
}

fn find_by_key(
    connection: &Connection,
    lane_no: i64,
    key: &str,
) -> Result<Option<InboxMessageId>, WorkError> {
    let found = prepare_cached(
        connection,
        "SELECT message_id FROM inbox WHERE lane_no = ?1 AND idempotency_key = ?2",
    )?
    .query_row(params![lane_no, key], |row| row.get::<_, i64>(0))
    .optional()?;
    Ok(found.map(i64::cast_unsigned))
}

/// Returns whether a message with this key was ever enqueued.
pub(super) fn has_key(
    connection: &Connection,
    lane: &LaneId,
    key: &str,
) -> Result<bool, WorkError> {
    match find_lane_no(connection, lane)? {
        Some(no) => Ok(find_by_key(connection, no, key)?.is_some()),
        None => Ok(false),
    }
}

fn insert_message(
    connection: &Connection,
    lane_no: i64,
    message: &EncodedMessage,
) -> Result<InboxMessageId, WorkError> {
    let id: i64 = prepare_cached(
        connection,
        "INSERT INTO inbox (lane_no, message_id, idempotency_key, kind, body, at)
         SELECT ?1, coalesce(max(message_id), 0) + 1, ?2, ?3, ?4, ?5 FROM inbox WHERE lane_no = ?1
         RETURNING message_id",
    )?
    .query_row(
        params![lane_no, &*message.key, message.kind, message.body, database_file::wall_ms()],
        |row| row.get(0),
    )?;
    Ok(id.cast_unsigned())
}

/// Marks a message as read; returns whether it was pending. Its body is deleted: from here on the
/// entry has it.
pub(super) fn mark_read(
    connection: &Connection,
    lane_no: i64,
    message: InboxMessageId,
    seq: Seq,
) -> Result<bool, WorkError> {
    let changed = prepare_cached(
        connection,
        "UPDATE inbox SET read_seq = ?3, body = NULL
         WHERE lane_no = ?1 AND message_id = ?2 AND read_seq IS NULL",
    )?
    .execute(params![lane_no, message.cast_signed(), seq.cast_signed()])?;
    Ok(changed == 1)
}

pub(super) fn pending_messages(
    connection: &Connection,
    lane: &LaneId,
    limit: usize,
) -> Result<Vec<InboxMessage>, WorkError> {
    let no = find_lane_no(connection, lane)?;
    let no =
        no.ok_or_else(|| WorkError::Rejected(StoreError::LaneNotFound { lane: lane.clone() }))?;
    let mut statement = prepare_cached(
        connection,
        "SELECT message_id, body FROM inbox WHERE lane_no = ?1 AND read_seq IS NULL
         ORDER BY message_id LIMIT ?2",
    )?;
    let mut rows = statement.query(params![no, column_values::limit_column(limit)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let id = row.get::<_, i64>(0)?.cast_unsigned();
        found.push(InboxMessage { id, body: parse_body(row)? });
    }
    Ok(found)
}

/// Returns unread messages about runs, newest first. One that cannot be decoded affects its own
/// lane, not every list.
pub(super) fn run_messages(
    connection: &Connection,
    lane: Option<&LaneId>,
    limit: usize,
) -> Result<Vec<PendingMessage>, WorkError> {
    let mut statement = prepare_cached(
        connection,
        "SELECT lane.id, inbox.body, inbox.at, lane.folder, lane.agent, lane.tenant
         FROM inbox JOIN lane ON lane.no = inbox.lane_no
         WHERE inbox.read_seq IS NULL AND inbox.kind IN (SELECT value FROM json_each(?2))
           AND (?1 IS NULL OR lane.id = ?1)
         ORDER BY inbox.at DESC, inbox.message_id DESC LIMIT ?3",
    )?;
    let kinds = serde_json::to_string(&RUN_MESSAGE_KINDS).unwrap_or_default();
    let limit = column_values::limit_column(limit);
    let mut rows = statement.query(params![lane.map(LaneId::as_str), kinds, limit])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let Ok(body) = parse_body(row) else { continue };
        found.push(PendingMessage {
            lane: LaneId::from(row.get::<_, String>(0)?),
            at: UnixMillis(row.get::<_, i64>(2)?.cast_unsigned()),
            body,
            folder: row.get(3)?,
            agent: row.get(4)?,
            tenant: row.get(5)?,
        });
    }
    Ok(found)
}

fn parse_body(row: &Row<'_>) -> rusqlite::Result<InboxCommand> {
    serde_json::from_str(row.get_ref(1)?.as_str()?).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, error.into())
    })
}
