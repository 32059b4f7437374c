//! Fenced appends: the first statement advances the lane's head, or nothing is written. Outbox
//! messages are inserted in the same transaction.
//!
//! An append is prepared on the caller's side, so that the writer thread neither serialises nor
//! hashes.

use rusqlite::{Connection, OptionalExtension, params};
use windlass_core::log::ids::{Epoch, InboxMessageId, LaneId, RunId, Seq, UnixMillis};
use windlass_core::projection::{CheckpointRow, Row};
use windlass_runtime::ports::{AppendRequest, EncodedEntry, SpendingChange, StoreError, WorkerId};

use super::error::WorkError;
use super::group_commit::prepare_cached;
use super::{inbox, rows, statistics, tenants};
use crate::encoding::{BlobHash, EncodedMessage};
use crate::run_changes::{RunChange, run_changes};
use crate::validation::{invalid_argument, rejection};
use crate::{column_values, crash_points, encoding};

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
    for id in &append.messages_read {
        if !inbox::mark_read(connection, lane_no, *id, last)? {
            return Err(WorkError::RollBack(rejection::message_not_pending(&append.lane, *id)));
        }
    }
    for (to, message) in &append.outbox {
        inbox::enqueue_message(connection, to, message, Some(lane_no))?;
    }
    append.spending.iter().try_for_each(|change| statistics::add_spending(connection, change))?;
    for change in &append.run_changes {
        tenants::insert_run_change(connection, lane_no, change)?;
    }
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
        put_blob(connection, hash, &entry.line)?;
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
        checkpoint.map(|row| column_values::saturating_column(row.persisted_messages)),
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

#[derive(Debug)]
pub(super) struct PreparedAppend {
    pub(super) lane: LaneId,
    pub(super) owner: WorkerId,
    pub(super) epoch: Epoch,
    pub(super) head: Seq,
    pub(super) entries: Vec<PreparedEntry>,
    pub(super) messages_read: Vec<InboxMessageId>,
    pub(super) outbox: Vec<(LaneId, EncodedMessage)>,
    pub(super) rows: Vec<PreparedRow>,
    pub(super) wake_at: Option<UnixMillis>,
    pub(super) active_run: Option<RunId>,
    pub(super) spending: Option<SpendingChange>,
    pub(super) run_changes: Vec<RunChange>,
}

impl PreparedAppend {
    pub(super) fn new(append: AppendRequest) -> Result<Self, StoreError> {
        let run_changes = run_changes(&append);
        let outbox = append
            .outbox
            .iter()
            .map(|(to, message)| Ok((to.clone(), EncodedMessage::new(message)?)));
        let mut entries: Vec<_> = append.entries.into_iter().map(PreparedEntry::new).collect();
        let mut rows = Vec::new();
        for row in append.rows {
            match row {
                Row::Checkpoint(checkpoint) => attach_checkpoint(&mut entries, checkpoint)?,
                row => rows.push(PreparedRow::new(row)?),
            }
        }
        Ok(Self {
            outbox: outbox.collect::<Result<_, StoreError>>()?,
            rows,
            entries,
            lane: append.lane,
            owner: append.owner,
            epoch: append.epoch,
            head: append.head,
            messages_read: append.messages_read,
            wake_at: append.wake_at,
            active_run: append.active_run,
            spending: append.spending,
            run_changes,
        })
    }
}

#[derive(Debug)]
pub(super) struct PreparedEntry {
    pub(super) entry: EncodedEntry,
    /// The hash of the body, if it is long enough to be stored as a blob.
    pub(super) blob: Option<BlobHash>,
    pub(super) checkpoint: Option<PreparedCheckpoint>,
}

#[derive(Debug)]
pub(super) struct PreparedCheckpoint {
    pub(super) row: CheckpointRow,
    /// The list of completed calls, encoded for its column; an empty one is not written.
    pub(super) completed_calls: Option<String>,
}

impl PreparedEntry {
    fn new(entry: EncodedEntry) -> Self {
        Self { blob: encoding::hash_if_large(&entry.line), entry, checkpoint: None }
    }
}

/// Attaches a checkpoint to its entry. Of several at one entry the last counts.
fn attach_checkpoint(entries: &mut [PreparedEntry], row: CheckpointRow) -> Result<(), StoreError> {
    let completed_calls = encoding::encode_list("the checkpoint", &row.completed_calls)?;
    let place = entries.iter_mut().find(|prepared| prepared.entry.seq == row.seq);
    let place = place.ok_or_else(|| {
        invalid_argument(format!(
            "the checkpoint at {} does not belong to an entry of its append",
            row.seq
        ))
    })?;
    place.checkpoint = Some(PreparedCheckpoint { row, completed_calls });
    Ok(())
}

#[derive(Debug)]
pub(super) struct PreparedRow {
    pub(super) row: Row,
    /// The list in the row, encoded for its column; empty lists are not written.
    pub(super) list: Option<String>,
}

impl PreparedRow {
    fn new(row: Row) -> Result<Self, StoreError> {
        let list = match &row {
            Row::Trace(trace) => Some(encoding::encode_json("the trace", &trace.tool_calls)?),
            Row::Run(run) => encoding::encode_other_causes(run)?,
            Row::ToolResult(_) | Row::Event(_) | Row::Checkpoint(_) | Row::Raw(_) => None,
        };
        Ok(Self { row, list })
    }
}

fn put_blob(connection: &Connection, hash: &BlobHash, text: &str) -> Result<(), WorkError> {
    let there = prepare_cached(connection, "SELECT 1 FROM blob WHERE hash = ?1")?
        .query_row(params![hash], |_| Ok(()))
        .optional()?;
    if there.is_none() {
        let size = i64::try_from(text.len()).unwrap_or(i64::MAX);
        prepare_cached(connection, "INSERT INTO blob (hash, size, bytes) VALUES (?1, ?2, ?3)")?
            .execute(params![hash, size, text.as_bytes()])?;
    }
    Ok(())
}
