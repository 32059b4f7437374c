//! Work made ready on the caller's side: the writer thread neither serialises nor hashes.

use std::sync::Arc;

use windlass_core::ids::{Epoch, LaneId, MailId, Millis, RunId, Seq};
use windlass_core::project::{CheckpointRow, Row};
use windlass_runtime::ports::{Append, EncodedEntry, Letter, SpendingChange, StoreError, WorkerId};

use super::blob::{self, Hash};
use crate::names;
use crate::valid::invalid;

#[derive(Debug)]
pub(super) struct PreparedLetter {
    pub(super) key: Arc<str>,
    pub(super) kind: &'static str,
    pub(super) body: String,
}

impl PreparedLetter {
    pub(super) fn new(letter: &Letter) -> Result<Self, StoreError> {
        let body = json("the mail", &letter.body)?;
        Ok(Self { key: letter.key.clone(), kind: letter.body.kind(), body })
    }
}

#[derive(Debug)]
pub(super) struct PreparedAppend {
    pub(super) lane: LaneId,
    pub(super) owner: WorkerId,
    pub(super) epoch: Epoch,
    pub(super) head: Seq,
    pub(super) entries: Vec<PreparedEntry>,
    pub(super) mail_read: Vec<MailId>,
    pub(super) mail_out: Vec<(LaneId, PreparedLetter)>,
    pub(super) rows: Vec<PreparedRow>,
    pub(super) wake_at: Option<Millis>,
    pub(super) active_run: Option<RunId>,
    pub(super) spending: Option<SpendingChange>,
}

impl PreparedAppend {
    pub(super) fn new(append: Append) -> Result<Self, StoreError> {
        let mail_out = append
            .mail_out
            .iter()
            .map(|(to, letter)| PreparedLetter::new(letter).map(|letter| (to.clone(), letter)));
        let mut entries: Vec<_> = append.entries.into_iter().map(PreparedEntry::new).collect();
        let mut rows = Vec::new();
        for row in append.rows {
            match row {
                Row::Checkpoint(checkpoint) => mark(&mut entries, checkpoint)?,
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
            mail_read: append.mail_read,
            wake_at: append.wake_at,
            active_run: append.active_run,
            spending: append.spending,
        })
    }
}

#[derive(Debug)]
pub(super) struct PreparedEntry {
    pub(super) entry: EncodedEntry,
    /// Set if the line is so long that it goes to the blobs.
    pub(super) blob: Option<Hash>,
    pub(super) checkpoint: Option<PreparedCheckpoint>,
}

#[derive(Debug)]
pub(super) struct PreparedCheckpoint {
    pub(super) row: CheckpointRow,
    /// The list in the row, as its column has it; an empty one is not written.
    pub(super) completed_calls: Option<String>,
}

impl PreparedEntry {
    fn new(entry: EncodedEntry) -> Self {
        Self { blob: blob::hash_if_large(&entry.line), entry, checkpoint: None }
    }
}

/// A checkpoint lies with its entry. Of several at one entry the last counts.
fn mark(entries: &mut [PreparedEntry], row: CheckpointRow) -> Result<(), StoreError> {
    let completed_calls = list("the checkpoint", &row.completed_calls)?;
    let place = entries.iter_mut().find(|prepared| prepared.entry.seq == row.seq);
    let place = place.ok_or_else(|| {
        invalid(format!("the checkpoint at {} stands at no entry of its append", row.seq))
    })?;
    place.checkpoint = Some(PreparedCheckpoint { row, completed_calls });
    Ok(())
}

#[derive(Debug)]
pub(super) struct PreparedRow {
    pub(super) row: Row,
    /// The list in the row, as its column has it; empty lists are not written.
    pub(super) list: Option<String>,
}

impl PreparedRow {
    fn new(row: Row) -> Result<Self, StoreError> {
        let list = match &row {
            Row::Trace(trace) => Some(json("the trace", &trace.tool_calls)?),
            Row::Run(run) => {
                let also: Vec<_> = run.also.iter().copied().map(names::cause).collect();
                list("the run", &also)?
            }
            Row::ToolResult(_) | Row::Event(_) | Row::Checkpoint(_) | Row::Raw(_) => None,
        };
        Ok(Self { row, list })
    }
}

fn list<T: AsRef<str>>(what: &str, items: &[T]) -> Result<Option<String>, StoreError> {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    if items.is_empty() { Ok(None) } else { json(what, &items).map(Some) }
}

fn json<T: serde::Serialize + ?Sized>(what: &str, value: &T) -> Result<String, StoreError> {
    let refuse = |error| invalid(format!("{what} cannot be written as JSON ({error})"));
    serde_json::to_string(value).map_err(refuse)
}
