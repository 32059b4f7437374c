//! Accepting mail, reading what waits, and marking what was read.

use rusqlite::{Connection, OptionalExtension, Row, params};
use windlass_core::ids::{LaneId, MailId, Millis, Seq};
use windlass_core::mail::{Mail, MailBody};
use windlass_runtime::ports::StoreError;

use super::clock;
use super::error::Stop;
use super::prepare::PreparedLetter;
use super::read::lane_no;
use super::step::sql;
use crate::pending::{KINDS, PendingMessage};

/// Makes the lane if it is new; then it belongs to whom the sender belongs to. A key that is known
/// gives the mail it stood for first.
pub(super) fn deliver(
    connection: &Connection,
    lane: &LaneId,
    letter: &PreparedLetter,
    sender: Option<i64>,
) -> Result<MailId, Stop> {
    let lane_no = ensure(connection, lane, sender)?;
    match known(connection, lane_no, &letter.key)? {
        Some(first) => Ok(first),
        None => insert(connection, lane_no, letter),
    }
}

fn ensure(connection: &Connection, lane: &LaneId, sender: Option<i64>) -> Result<i64, Stop> {
    if let Some(no) = lane_no(connection, lane)? {
        return Ok(no);
    }
    match sender {
        None => sql(connection, "INSERT INTO lane (id) VALUES (?1)")?.execute([lane.as_str()])?,
        Some(sender) => sql(
            connection,
            "INSERT INTO lane (id, tenant, agent, affinity, folder)
             SELECT ?1, tenant, agent, affinity, folder FROM lane WHERE no = ?2",
        )?
        .execute(params![lane.as_str(), sender])?,
    };
    Ok(connection.last_insert_rowid())
}

fn known(connection: &Connection, lane_no: i64, key: &str) -> Result<Option<MailId>, Stop> {
    let found = sql(connection, "SELECT mail_id FROM mail WHERE lane_no = ?1 AND client_key = ?2")?
        .query_row(params![lane_no, key], |row| row.get::<_, i64>(0))
        .optional()?;
    Ok(found.map(i64::cast_unsigned))
}

fn insert(connection: &Connection, lane_no: i64, letter: &PreparedLetter) -> Result<MailId, Stop> {
    let id: i64 = sql(
        connection,
        "INSERT INTO mail (lane_no, mail_id, client_key, kind, body, at)
         SELECT ?1, coalesce(max(mail_id), 0) + 1, ?2, ?3, ?4, ?5 FROM mail WHERE lane_no = ?1
         RETURNING mail_id",
    )?
    .query_row(
        params![lane_no, &*letter.key, letter.kind, letter.body, clock::wall_ms()],
        |row| row.get(0),
    )?;
    Ok(id.cast_unsigned())
}

/// Whether the mail was waiting. Its body goes: from here on the entry has it.
pub(super) fn mark_read(
    connection: &Connection,
    lane_no: i64,
    mail: MailId,
    seq: Seq,
) -> Result<bool, Stop> {
    let changed = sql(
        connection,
        "UPDATE mail SET read_seq = ?3, body = NULL
         WHERE lane_no = ?1 AND mail_id = ?2 AND read_seq IS NULL",
    )?
    .execute(params![lane_no, mail.cast_signed(), seq.cast_signed()])?;
    Ok(changed == 1)
}

pub(super) fn waiting(
    connection: &Connection,
    lane: &LaneId,
    most: usize,
) -> Result<Vec<Mail>, Stop> {
    let no = lane_no(connection, lane)?;
    let no = no.ok_or_else(|| Stop::Refused(StoreError::NoLane { lane: lane.clone() }))?;
    let mut statement = sql(
        connection,
        "SELECT mail_id, body FROM mail WHERE lane_no = ?1 AND read_seq IS NULL
         ORDER BY mail_id LIMIT ?2",
    )?;
    let mut rows = statement.query(params![no, i64::try_from(most).unwrap_or(i64::MAX)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let id = row.get::<_, i64>(0)?.cast_unsigned();
        found.push(Mail { id, body: body(row)? });
    }
    Ok(found)
}

/// Messages that say something about runs, newest first. One that cannot be read concerns its own
/// lane, not every list.
pub(super) fn pending(
    connection: &Connection,
    lane: Option<&LaneId>,
    most: usize,
) -> Result<Vec<PendingMessage>, Stop> {
    let mut statement = sql(
        connection,
        "SELECT lane.id, mail.body, mail.at, lane.folder, lane.agent
         FROM mail JOIN lane ON lane.no = mail.lane_no
         WHERE mail.read_seq IS NULL AND mail.kind IN (SELECT value FROM json_each(?2))
           AND (?1 IS NULL OR lane.id = ?1)
         ORDER BY mail.at DESC, mail.mail_id DESC LIMIT ?3",
    )?;
    let kinds = serde_json::to_string(&KINDS).unwrap_or_default();
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![lane.map(LaneId::as_str), kinds, most])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let Ok(body) = body(row) else { continue };
        found.push(PendingMessage {
            lane: LaneId::from(row.get::<_, String>(0)?),
            at: Millis(row.get::<_, i64>(2)?.cast_unsigned()),
            body,
            folder: row.get(3)?,
            agent: row.get(4)?,
        });
    }
    Ok(found)
}

fn body(row: &Row<'_>) -> rusqlite::Result<MailBody> {
    serde_json::from_str(row.get_ref(1)?.as_str()?).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, error.into())
    })
}
