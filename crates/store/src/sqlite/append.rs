//! Appending under the fence: the first statement advances the lane, or nothing happens.

use rusqlite::{Connection, OptionalExtension, params};
use windlass_core::ids::Seq;
use windlass_runtime::ports::StoreError;

use super::error::Stop;
use super::prepare::{PreparedAppend, PreparedEntry};
use super::step::sql;
use super::{blob, mail, records, rows};
use crate::fault;
use crate::names;
use crate::valid::refusal;

pub(super) fn append(connection: &Connection, append: &PreparedAppend) -> Result<(), Stop> {
    let (lane_no, head) = advance(connection, append)?;
    // A checkpoint names its run by number, so the rows of runs come before the entries.
    append.rows.iter().try_for_each(|row| rows::write(connection, lane_no, &append.lane, row))?;
    for (seq, entry) in (head.saturating_add(1)..).zip(&append.entries) {
        insert(connection, lane_no, append, seq, entry)?;
    }
    let last = head.saturating_add(append.entries.len() as u64);
    for id in &append.mail_read {
        if !mail::mark_read(connection, lane_no, *id, last)? {
            return Err(Stop::Undo(refusal::mail_not_waiting(&append.lane, *id)));
        }
    }
    for (to, letter) in &append.mail_out {
        mail::deliver(connection, to, letter, Some(lane_no))?;
    }
    append.spending.iter().try_for_each(|change| records::spend(connection, change))?;
    Ok(())
}

/// Moves the head under owner, epoch and head; gives the lane's number and the head before.
fn advance(connection: &Connection, append: &PreparedAppend) -> Result<(i64, Seq), Stop> {
    if fault::fence_is_broken() {
        return advance_unfenced(connection, append);
    }
    let advanced = sql(
        connection,
        "UPDATE lane SET head = head + ?4, wake_at = ?5, active_run = ?6
         WHERE id = ?1 AND epoch = ?2 AND head = ?3 AND owner = ?7 RETURNING no",
    )?
    .query_row(
        params![
            append.lane.as_str(),
            append.epoch.cast_signed(),
            append.head.cast_signed(),
            append.entries.len().cast_signed(),
            append.wake_at.map(|at| at.0.cast_signed()),
            append.active_run.as_ref().map(|run| run.as_str()),
            &*append.owner,
        ],
        |row| row.get(0),
    )
    .optional()?;
    let fenced = || Stop::Refused(StoreError::Fenced { lane: append.lane.clone() });
    Ok((advanced.ok_or_else(fenced)?, append.head))
}

/// What the torture harness must notice: an owner that writes although it lost the lane.
fn advance_unfenced(connection: &Connection, append: &PreparedAppend) -> Result<(i64, Seq), Stop> {
    let count = append.entries.len().cast_signed();
    let (no, head): (i64, i64) =
        sql(connection, "UPDATE lane SET head = head + ?2 WHERE id = ?1 RETURNING no, head")?
            .query_row(params![append.lane.as_str(), count], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
    Ok((no, head.cast_unsigned().saturating_sub(append.entries.len() as u64)))
}

fn insert(
    connection: &Connection,
    lane_no: i64,
    append: &PreparedAppend,
    seq: Seq,
    prepared: &PreparedEntry,
) -> Result<(), Stop> {
    let entry = &prepared.entry;
    if let Some(hash) = &prepared.blob {
        blob::put(connection, hash, &entry.line)?;
    }
    let inline = prepared.blob.is_none().then_some(&*entry.line);
    let marked = prepared.checkpoint.as_ref();
    let checkpoint = marked.map(|marked| &marked.row);
    let prompt = checkpoint.and_then(|row| row.prompt_hash.as_deref());
    sql(
        connection,
        "INSERT INTO entry (lane_no, seq, epoch, at, body, blob, run_no, checkpoint, iteration,
             message_cursor, prompt_no, completed_calls, persisted_messages)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, (SELECT no FROM run WHERE run_id = ?7), ?8, ?9, ?10, ?11,
             ?12, ?13)",
    )?
    .execute(params![
        lane_no,
        seq.cast_signed(),
        append.epoch.cast_signed(),
        entry.at.0.cast_signed(),
        inline,
        prepared.blob,
        checkpoint.map(|row| row.run.as_str()),
        checkpoint.map(|row| row.kind.as_str()),
        checkpoint.map(|row| row.iteration),
        checkpoint.map(|row| row.message_cursor.cast_signed()),
        prompt.map(|hash| prompt_no(connection, hash)).transpose()?,
        marked.and_then(|marked| marked.completed_calls.as_deref()),
        checkpoint.map(|row| names::count(row.persisted_messages)),
    ])?;
    Ok(())
}

/// The number of a prompt: a conversation keeps its prompt for hundreds of checkpoints.
fn prompt_no(connection: &Connection, hash: &str) -> Result<i64, Stop> {
    let known = sql(connection, "SELECT no FROM prompt WHERE hash = ?1")?
        .query_row(params![hash], |row| row.get(0))
        .optional()?;
    if let Some(no) = known {
        return Ok(no);
    }
    sql(connection, "INSERT INTO prompt (hash) VALUES (?1)")?.execute(params![hash])?;
    Ok(connection.last_insert_rowid())
}
