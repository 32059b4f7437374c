//! An append made ready on the caller's side: the writer neither serialises nor hashes.

use std::collections::HashSet;

use sha2::{Digest, Sha256};
use windlass_core::ids::LaneId;
use windlass_core::project::{Row, TraceCall};
use windlass_runtime::ports::{Append, Letter, StoreError};

use super::text;
use crate::names;
use crate::valid::invalid;

/// Bodies longer than this leave the entry's row.
pub(super) const LARGEST_INLINE: usize = 64 * 1024;

pub(super) type Hash = [u8; 32];

/// An append and what had to be made of it.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) append: Append,
    /// Of entries that go to the blobs.
    pub(super) hashes: Vec<Option<Hash>>,
    /// The list in each row, as its column has it; empty lists are not written.
    pub(super) lists: Vec<Option<String>>,
    pub(super) letters: Vec<(LaneId, PreparedLetter)>,
}

impl Prepared {
    pub(super) fn new(append: Append) -> Result<Self, StoreError> {
        let letters = append.mail_out.iter();
        let letters = letters
            .map(|(to, letter)| Ok((to.clone(), PreparedLetter::new(letter)?)))
            .collect::<Result<_, StoreError>>()?;
        Ok(Self {
            hashes: append.entries.iter().map(|entry| hash_if_large(&entry.line)).collect(),
            lists: append.rows.iter().map(list_of).collect::<Result<_, _>>()?,
            letters,
            append,
        })
    }

    /// How many runs it writes.
    pub(super) fn runs(&self) -> i64 {
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

fn hash_if_large(text: &str) -> Option<Hash> {
    (text.len() > LARGEST_INLINE).then(|| Sha256::digest(text.as_bytes()).into())
}

#[derive(Debug)]
pub(super) struct PreparedLetter {
    pub(super) key: String,
    pub(super) kind: &'static str,
    pub(super) body: Vec<u8>,
}

impl PreparedLetter {
    pub(super) fn new(letter: &Letter) -> Result<Self, StoreError> {
        let body = json("the mail", &letter.body)?.into_bytes();
        Ok(Self { key: letter.key.to_string(), kind: letter.body.kind(), body })
    }
}

fn list_of(row: &Row) -> Result<Option<String>, StoreError> {
    match row {
        Row::Trace(trace) => json("the trace", &shown_calls(&trace.tool_calls)).map(Some),
        Row::Checkpoint(checkpoint) => list("the checkpoint", &checkpoint.completed_calls),
        Row::Run(run) => {
            let also: Vec<_> = run.also.iter().copied().map(names::cause).collect();
            list("the run", &also)
        }
        Row::ToolResult(_) | Row::Event(_) | Row::Raw(_) => Ok(None),
    }
}

/// `jsonb` refuses NUL however it is written.
fn shown_calls(calls: &[TraceCall]) -> Vec<TraceCall> {
    let shown = |call: &TraceCall| TraceCall {
        name: text::shown(&call.name).as_ref().into(),
        input_hash: text::shown(&call.input_hash).as_ref().into(),
        ..call.clone()
    };
    calls.iter().map(shown).collect()
}

fn list<T: AsRef<str>>(what: &str, items: &[T]) -> Result<Option<String>, StoreError> {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    if items.is_empty() { Ok(None) } else { json(what, &items).map(Some) }
}

fn json<T: serde::Serialize + ?Sized>(what: &str, value: &T) -> Result<String, StoreError> {
    let refuse = |error| invalid(format!("{what} cannot be written as JSON ({error})"));
    serde_json::to_string(value).map_err(refuse)
}
