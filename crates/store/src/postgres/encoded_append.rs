//! An append encoded on the caller's side, so that the writer neither serialises nor hashes.

use std::collections::HashSet;

use sha2::{Digest, Sha256};
use windlass_core::log::ids::LaneId;
use windlass_core::projection::{Row, TraceCall};
use windlass_runtime::ports::{AppendRequest, OutboxMessage, StoreError};

use super::nul_text;
use crate::column_values;
use crate::validation::invalid_argument;

/// Longer bodies are stored as blobs instead of in the entry's row.
pub(super) const MAX_INLINE_BYTES: usize = 64 * 1024;

pub(super) type EntryHash = [u8; 32];

/// An append and its encoded parts.
#[derive(Debug)]
pub(super) struct EncodedAppend {
    pub(super) append: AppendRequest,
    /// The hashes of entries that are stored as blobs.
    pub(super) hashes: Vec<Option<EntryHash>>,
    /// The list in each row, encoded for its column; empty lists are not written.
    pub(super) lists: Vec<Option<String>>,
    pub(super) messages: Vec<(LaneId, EncodedMessage)>,
}

impl EncodedAppend {
    pub(super) fn new(append: AppendRequest) -> Result<Self, StoreError> {
        let letters = append.outbox.iter();
        let messages = letters
            .map(|(to, letter)| Ok((to.clone(), EncodedMessage::new(letter)?)))
            .collect::<Result<_, StoreError>>()?;
        Ok(Self {
            hashes: append.entries.iter().map(|entry| hash_if_large(&entry.line)).collect(),
            lists: append.rows.iter().map(encode_row_list).collect::<Result<_, _>>()?,
            messages,
            append,
        })
    }

    /// Returns how many runs the append writes.
    pub(super) fn run_count(&self) -> i64 {
        let runs = self.append.rows.iter().filter_map(|row| match row {
            Row::Run(run) => Some(run.run.as_str()),
            Row::Trace(_)
            | Row::ToolResult(_)
            | Row::Checkpoint(_)
            | Row::Event(_)
            | Row::Raw(_) => None,
        });
        runs.collect::<HashSet<_>>().len().cast_signed() as i64
    }
}

fn hash_if_large(text: &str) -> Option<EntryHash> {
    (text.len() > MAX_INLINE_BYTES).then(|| Sha256::digest(text.as_bytes()).into())
}

#[derive(Debug)]
pub(super) struct EncodedMessage {
    pub(super) key: String,
    pub(super) kind: &'static str,
    pub(super) body: Vec<u8>,
}

impl EncodedMessage {
    pub(super) fn new(letter: &OutboxMessage) -> Result<Self, StoreError> {
        let body = encode_json("the message", &letter.body)?.into_bytes();
        Ok(Self { key: letter.idempotency_key.to_string(), kind: letter.body.kind(), body })
    }
}

fn encode_row_list(row: &Row) -> Result<Option<String>, StoreError> {
    match row {
        Row::Trace(trace) => {
            encode_json("the trace", &calls_without_nul(&trace.tool_calls)).map(Some)
        }
        Row::Checkpoint(checkpoint) => encode_list("the checkpoint", &checkpoint.completed_calls),
        Row::Run(run) => {
            let other_causes: Vec<_> =
                run.other_causes.iter().copied().map(column_values::cause_name).collect();
            encode_list("the run", &other_causes)
        }
        Row::ToolResult(_) | Row::Event(_) | Row::Raw(_) => Ok(None),
    }
}

/// Returns the calls without NUL, which `jsonb` rejects in every notation.
fn calls_without_nul(calls: &[TraceCall]) -> Vec<TraceCall> {
    let shown = |call: &TraceCall| TraceCall {
        name: nul_text::replace_nul(&call.name).as_ref().into(),
        input_hash: nul_text::replace_nul(&call.input_hash).as_ref().into(),
        ..call.clone()
    };
    calls.iter().map(shown).collect()
}

fn encode_list<T: AsRef<str>>(what: &str, items: &[T]) -> Result<Option<String>, StoreError> {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    if items.is_empty() { Ok(None) } else { encode_json(what, &items).map(Some) }
}

fn encode_json<T: serde::Serialize + ?Sized>(what: &str, value: &T) -> Result<String, StoreError> {
    let refuse = |error| invalid_argument(format!("{what} cannot be written as JSON ({error})"));
    serde_json::to_string(value).map_err(refuse)
}
