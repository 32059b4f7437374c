//! Fenced appends: the first statement advances the lane's head, or nothing is written. Outbox
//! messages are inserted in the same transaction.

use rusqlite::{Connection, OptionalExtension, params};
use windlass_core::log::ids::Seq;
use windlass_runtime::ports::StoreError;

use super::error::WorkError;
use super::prepared_append::{PreparedAppend, PreparedEntry};
use super::write_work::prepare_cached;
use super::{entry_blobs, inbox, rows, statistics};
use crate::column_values;
use crate::crash_points;
use crate::validation::rejection;

pub(super) fn append_fenced(
    connection: &Connection,
    append: &PreparedAppend,
) -> Result<(), WorkError> {
    let (lane_no, head) = advance_head(connection, append)?;
    // A checkpoint refers to its run by number, so run rows are written before the entries.
    append
        .rows
        .iter()
        .try_for_each(|row| rows::write_row(connection, lane_no, &append.lane, row))?;
    for (seq, entry) in (head.saturating_add(1)..).zip(&append.entries) {
        insert_entry(connection, lane_no, append, seq, entry)?;
    }
    let last = head.saturating_add(append.entries.len() as u64);
    for id in &append.mail_read {
        if !inbox::mark_read(connection, lane_no, *id, last)? {
            return Err(WorkError::RollBack(rejection::message_not_pending(&append.lane, *id)));
        }
    }
    for (to, letter) in &append.mail_out {
        inbox::enqueue_message(connection, to, letter, Some(lane_no))?;
    }
    append.spending.iter().try_for_each(|change| statistics::add_spending(connection, change))?;
    Ok(())
}

/// Advances the head if owner, epoch and head match; returns the lane's number and the head before.
fn advance_head(connection: &Connection, append: &PreparedAppend) -> Result<(i64, Seq), WorkError> {
    if crash_points::is_fence_disabled() {
        return advance_head_unfenced(connection, append);
    }
    let advanced = prepare_cached(
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
    let fenced = || WorkError::Rejected(StoreError::Fenced { lane: append.lane.clone() });
    Ok((advanced.ok_or_else(fenced)?, append.head))
}

/// Advances the head without the fence. The torture harness must detect this: an owner that writes
/// although it lost the lane.
fn advance_head_unfenced(
    connection: &Connection,
    append: &PreparedAppend,
) -> Result<(i64, Seq), WorkError> {
    let count = append.entries.len().cast_signed();
    let (no, head): (i64, i64) = prepare_cached(
        connection,
        "UPDATE lane SET head = head + ?2 WHERE id = ?1 RETURNING no, head",
    )?
    .query_row(params![append.lane.as_str(), count], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok((no, head.cast_unsigned().saturating_sub(append.entries.len() as u64)))
}

fn insert_entry(
    connection: &Connection,
    lane_no: i64,
    append: &PreparedAppend,
    seq: Seq,
    prepared: &PreparedEntry,
) -> Result<(), WorkError> {
    let entry = &prepared.entry;
    if let Some(hash) = &prepared.blob {
        entry_blobs::put_blob(connection, hash, &entry.line)?;
    }
    let inline = prepared.blob.is_none().then_some(&*entry.line);
    let marked = prepared.checkpoint.as_ref();
    let checkpoint = marked.map(|marked| &marked.row);
    let prompt = checkpoint.and_then(|row| row.prompt_hash.as_deref());
    prepare_cached(
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
        prompt.map(|hash| find_or_insert_prompt(connection, hash)).transpose()?,
        marked.and_then(|marked| marked.completed_calls.as_deref()),
        checkpoint.map(|row| column_values::column_count(row.persisted_messages)),
    ])?;
    Ok(())
}

/// Returns the number of a prompt, which is stored once: a conversation keeps its prompt for
/// hundreds of checkpoints.
fn find_or_insert_prompt(connection: &Connection, hash: &str) -> Result<i64, WorkError> {
    let known = prepare_cached(connection, "SELECT no FROM prompt WHERE hash = ?1")?
        .query_row(params![hash], |row| row.get(0))
        .optional()?;
    if let Some(no) = known {
        return Ok(no);
    }
    prepare_cached(connection, "INSERT INTO prompt (hash) VALUES (?1)")?.execute(params![hash])?;
    Ok(connection.last_insert_rowid())
}
