//! Fenced appends: the first statement advances the lane's head, or nothing is written. Outbox
//! messages are inserted in the same transaction.
//!
//! An append is prepared on the caller's side, so that the writer thread neither serialises nor
//! hashes.

use rusqlite::{Connection, OptionalExtension, params};
use windlass_core::log::ids::{Epoch, InboxMessageId, LaneId, RunId, Seq, UnixMillis};
use windlass_core::projection::{CheckpointRow, RawRow, Row};
use windlass_runtime::ports::{AppendRequest, EncodedEntry, SpendingChange, StoreError, WorkerId};

use super::error::WorkError;
use super::group_commit::prepare_cached;
use super::rows::PreparedRow;
use super::{deferred_rows, inbox, statistics, tenants};
use crate::encoding::{BlobHash, EncodedMessage};
use crate::run_changes::{RunChange, run_changes};
use crate::validation::{invalid_argument, rejection};
use crate::{column_values, crash_points, encoding};

pub(super) fn append_fenced(
    connection: &Connection,
    append: &PreparedAppend,
) -> Result<(), WorkError> {
    let lane = advance_head(connection, append)?;
    let (lane_no, head) = (lane.no, lane.head);
    // A checkpoint refers to its run by number, so run rows are written before the entries.
    let deferred = deferred_rows::write_or_defer_rows(connection, &lane, append)?;
    let last = head.saturating_add(append.entries.len() as u64);
    for (seq, entry) in (head.saturating_add(1)..).zip(&append.entries) {
        let rows = deferred.filter(|_| seq == last);
        insert_entry(connection, lane_no, append, NumberedEntry { seq, entry, rows })?;
    }
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

/// A lane whose head was advanced.
pub(super) struct AdvancedLane {
    pub(super) no: i64,
    /// The head before.
    pub(super) head: Seq,
    /// The first entry whose rows are not in their tables yet.
    pub(super) rows_from: Option<i64>,
}

/// Advances the head if owner, epoch and head match.
fn advance_head(
    connection: &Connection,
    append: &PreparedAppend,
) -> Result<AdvancedLane, WorkError> {
    if crash_points::is_fence_disabled() {
        return advance_head_unfenced(connection, append);
    }
    let run = append.rows.iter().rev().find_map(PreparedRow::as_run);
    let advanced = prepare_cached(
        connection,
        "UPDATE lane SET head = head + ?4, wake_at = ?5, active_run = ?6,
             run_at = coalesce(?8, run_at), run_usd_micros = iif(?8 IS NULL, run_usd_micros, ?9)
         WHERE id = ?1 AND epoch = ?2 AND head = ?3 AND owner = ?7 RETURNING no, rows_from",
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
            run.map(|run| run.at.0.cast_signed()),
            run.and_then(|run| run.usd_micros).map(u64::cast_signed),
        ],
        |row| Ok(AdvancedLane { no: row.get(0)?, head: append.head, rows_from: row.get(1)? }),
    )
    .optional()?;
    advanced.ok_or_else(|| WorkError::Rejected(StoreError::Fenced { lane: append.lane.clone() }))
}

/// Advances the head without the fence. The torture harness must detect this: an owner that writes
/// although it lost the lane.
fn advance_head_unfenced(
    connection: &Connection,
    append: &PreparedAppend,
) -> Result<AdvancedLane, WorkError> {
    let count = append.entries.len().cast_signed();
    let mut advanced = prepare_cached(
        connection,
        "UPDATE lane SET head = head + ?2 WHERE id = ?1 RETURNING no, head, rows_from",
    )?
    .query_row(params![append.lane.as_str(), count], |row| {
        let head = row.get::<_, i64>(1)?.cast_unsigned();
        Ok(AdvancedLane { no: row.get(0)?, head, rows_from: row.get(2)? })
    })?;
    advanced.head = advanced.head.saturating_sub(append.entries.len() as u64);
    Ok(advanced)
}

/// An entry as it is written.
struct NumberedEntry<'a> {
    seq: Seq,
    entry: &'a PreparedEntry,
    /// The rows that are written to their tables later.
    rows: Option<&'a str>,
}

fn insert_entry(
    connection: &Connection,
    lane_no: i64,
    append: &PreparedAppend,
    NumberedEntry { seq, entry: prepared, rows }: NumberedEntry<'_>,
) -> Result<(), WorkError> {
    let entry = &prepared.entry;
    if let Some(hash) = &prepared.blob {
        put_blob(connection, hash, &entry.line)?;
    }
    let inline = prepared.blob.is_none().then_some(&*entry.line);
    let marked = prepared.checkpoint.as_ref();
    let checkpoint = marked.map(|marked| &marked.row);
    let raw = prepared.raw.as_ref();
    let prompt = checkpoint.and_then(|row| row.prompt_hash.as_deref());
    prepare_cached(
        connection,
        "INSERT INTO entry (lane_no, seq, epoch, at, body, blob, run_no, checkpoint, iteration,
             message_cursor, prompt_no, completed_calls, persisted_messages, rows, raw_at, raw_body,
             raw_response)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, (SELECT no FROM run WHERE run_id = ?7), ?8, ?9, ?10, ?11,
             ?12, ?13, ?14, ?15, ?16, ?17)",
    )?
    .execute(params![
        lane_no,
        seq.cast_signed(),
        append.epoch.cast_signed(),
        entry.at.0.cast_signed(),
        inline,
        prepared.blob,
        checkpoint.map(|row| &row.run).or(raw.and_then(|raw| raw.run.as_ref())).map(RunId::as_str),
        checkpoint.map(|row| row.kind.as_str()),
        checkpoint.map(|row| row.iteration),
        checkpoint.map(|row| row.message_cursor.cast_signed()),
        prompt.map(|hash| find_or_insert_prompt(connection, hash)).transpose()?,
        marked.and_then(|marked| marked.completed_calls.as_deref()),
        checkpoint.map(|row| column_values::saturating_column(row.persisted_messages)),
        rows,
        raw.map(|raw| raw.at.0.cast_signed()),
        raw.map(|raw| raw.body.text()),
        raw.and_then(|raw| raw.response.as_deref()),
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
    /// The rows as an entry keeps them, if all of them may be written later.
    pub(super) deferred_rows: Option<String>,
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
                Row::Raw(raw) => attach_raw_response(&mut entries, raw)?,
                row => rows.extend(PreparedRow::new(row)?),
            }
        }
        let deferred_rows = match entries.is_empty() {
            true => None,
            false => deferred_rows::encode_rows(append.active_run.as_ref(), &rows)?,
        };
        Ok(Self {
            outbox: outbox.collect::<Result<_, StoreError>>()?,
            rows,
            deferred_rows,
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
    pub(super) raw: Option<RawRow>,
}

#[derive(Debug)]
pub(super) struct PreparedCheckpoint {
    pub(super) row: CheckpointRow,
    /// The list of completed calls, encoded for its column; an empty one is not written.
    pub(super) completed_calls: Option<String>,
}

impl PreparedEntry {
    fn new(entry: EncodedEntry) -> Self {
        Self { blob: encoding::hash_if_large(&entry.line), entry, checkpoint: None, raw: None }
    }
}

/// Attaches a checkpoint to its entry. Of several at one entry the last counts.
fn attach_checkpoint(entries: &mut [PreparedEntry], row: CheckpointRow) -> Result<(), StoreError> {
    let completed_calls = encoding::encode_list("the checkpoint", &row.completed_calls)?;
    let place = find_entry(entries, "the checkpoint", row.seq)?;
    place.checkpoint = Some(PreparedCheckpoint { row, completed_calls });
    Ok(())
}

/// Attaches a raw response to its entry. Of several at one entry the last counts.
fn attach_raw_response(entries: &mut [PreparedEntry], row: RawRow) -> Result<(), StoreError> {
    let place = find_entry(entries, "the raw response", row.seq)?;
    place.raw = Some(row);
    Ok(())
}

fn find_entry<'e>(
    entries: &'e mut [PreparedEntry],
    what: &str,
    seq: Seq,
) -> Result<&'e mut PreparedEntry, StoreError> {
    let place = entries.iter_mut().find(|prepared| prepared.entry.seq == seq);
    place.ok_or_else(|| {
        invalid_argument(format!("{what} at {seq} does not belong to an entry of its append"))
    })
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
