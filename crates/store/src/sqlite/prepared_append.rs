//! Appends prepared on the caller's side, so that the writer thread neither serialises nor hashes.

use std::sync::Arc;

use windlass_core::log::ids::{Epoch, InboxMessageId, LaneId, RunId, Seq, UnixMillis};
use windlass_core::projection::{CheckpointRow, Row};
use windlass_runtime::ports::{
    AppendRequest, EncodedEntry, OutboxMessage, SpendingChange, StoreError, WorkerId,
};

use super::entry_blobs::{self, BlobHash};
use crate::column_values;
use crate::validation::invalid_argument;

#[derive(Debug)]
pub(super) struct PreparedMessage {
    pub(super) key: Arc<str>,
    pub(super) kind: &'static str,
    pub(super) body: String,
}

impl PreparedMessage {
    pub(super) fn new(letter: &OutboxMessage) -> Result<Self, StoreError> {
        let body = encode_json("the message", &letter.body)?;
        Ok(Self { key: letter.idempotency_key.clone(), kind: letter.body.kind(), body })
    }
}

#[derive(Debug)]
pub(super) struct PreparedAppend {
    pub(super) lane: LaneId,
    pub(super) owner: WorkerId,
    pub(super) epoch: Epoch,
    pub(super) head: Seq,
    pub(super) entries: Vec<PreparedEntry>,
    pub(super) mail_read: Vec<InboxMessageId>,
    pub(super) mail_out: Vec<(LaneId, PreparedMessage)>,
    pub(super) rows: Vec<PreparedRow>,
    pub(super) wake_at: Option<UnixMillis>,
    pub(super) active_run: Option<RunId>,
    pub(super) spending: Option<SpendingChange>,
}

impl PreparedAppend {
    pub(super) fn new(append: AppendRequest) -> Result<Self, StoreError> {
        let mail_out = append
            .outbox
            .iter()
            .map(|(to, letter)| PreparedMessage::new(letter).map(|letter| (to.clone(), letter)));
        let mut entries: Vec<_> = append.entries.into_iter().map(PreparedEntry::new).collect();
        let mut rows = Vec::new();
        for row in append.rows {
            match row {
                Row::Checkpoint(checkpoint) => attach_checkpoint(&mut entries, checkpoint)?,
                row => rows.push(PreparedRow::new(row)?),
            }
        }
        Ok(Self {
            mail_out: mail_out.collect::<Result<_, _>>()?,
            rows,
            entries,
            lane: append.lane,
            owner: append.owner,
            epoch: append.epoch,
            head: append.head,
            mail_read: append.messages_read,
            wake_at: append.wake_at,
            active_run: append.active_run,
            spending: append.spending,
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
        Self { blob: entry_blobs::hash_if_large(&entry.line), entry, checkpoint: None }
    }
}

/// Attaches a checkpoint to its entry. Of several at one entry the last counts.
fn attach_checkpoint(entries: &mut [PreparedEntry], row: CheckpointRow) -> Result<(), StoreError> {
    let completed_calls = encode_list("the checkpoint", &row.completed_calls)?;
    let place = entries.iter_mut().find(|prepared| prepared.entry.seq == row.seq);
    let place = place.ok_or_else(|| {
        invalid_argument(format!("the checkpoint at {} stands at no entry of its append", row.seq))
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
            Row::Trace(trace) => Some(encode_json("the trace", &trace.tool_calls)?),
            Row::Run(run) => {
                let other_causes: Vec<_> =
                    run.other_causes.iter().copied().map(column_values::cause_name).collect();
                encode_list("the run", &other_causes)?
            }
            Row::ToolResult(_) | Row::Event(_) | Row::Checkpoint(_) | Row::Raw(_) => None,
        };
        Ok(Self { row, list })
    }
}

fn encode_list<T: AsRef<str>>(what: &str, items: &[T]) -> Result<Option<String>, StoreError> {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    if items.is_empty() { Ok(None) } else { encode_json(what, &items).map(Some) }
}

fn encode_json<T: serde::Serialize + ?Sized>(what: &str, value: &T) -> Result<String, StoreError> {
    let refuse = |error| invalid_argument(format!("{what} cannot be written as JSON ({error})"));
    serde_json::to_string(value).map_err(refuse)
}
