//! Many appends as one SQL statement: it advances the heads whose fence holds and writes what
//! belongs to them, in one round trip and one commit. A fenced append leaves no trace.
//!
//! Under READ COMMITTED a statement that waited for a lane's row re-reads the row as it is then; if
//! epoch and head still match, no other process has appended meanwhile, so everything else the
//! statement saw of that lane is still true.

use std::borrow::Cow;
use std::collections::HashSet;

use windlass_core::log::ids::{LaneId, RunId};
use windlass_core::projection::{Row, TraceCall};
use windlass_runtime::ports::{AppendRequest, StoreError};

use super::append_statement;
use super::append_statement::{ColumnArrays, StatementParts, columns};
use super::connection::{PgConnection, SqlValue};
use super::error::PgError;
use super::rows::{RowColumns, millis_column, replace_nul};
use crate::encoding::{self, BlobHash, EncodedMessage};
use crate::run_changes::{RunChange, run_changes};

columns!(
    /// Columns of the appends, one row per append.
    AppendColumns {
        ord: i64,
        lane: Cow<'r, str>,
        owner: Cow<'r, str>,
        epoch: i64,
        head: i64,
        entries: i64,
        wake_at: Option<i64>,
        active_run: Option<Cow<'r, str>>,
        read_messages: i64,
        runs: i64,
    }
);

columns!(
    /// Columns of the table `entry`.
    EntryColumns {
        ord: i64,
        offset_in_append: i64,
        at: i64,
        body: Option<&'r [u8]>,
        hash: Option<&'r [u8]>,
    }
);

columns!(
    /// Columns of the table `blob`.
    BlobColumns { ord: i64, hash: &'r [u8], bytes: &'r [u8] }
);

columns!(
    /// Columns of the messages that were read.
    ReadMarkColumns { ord: i64, message_id: i64 }
);

columns!(
    /// Columns of the table `spending`.
    SpendingColumns {
        ord: i64,
        account: Cow<'r, str>,
        period: Cow<'r, str>,
        tokens: i64,
        usd_micros: i64,
    }
);

columns!(
    /// Columns of the documents about runs that changed.
    RunChangeColumns {
        ord: i64,
        key: Cow<'r, str>,
        run_id: Cow<'r, str>,
        body: Cow<'r, str>,
    }
);

/// The result of the statement: which appends passed the fence, and how much of them was written.
#[derive(Debug, Default)]
pub(super) struct BatchResult {
    pub(super) passed_fence: HashSet<i64>,
    pub(super) marked_messages: i64,
    pub(super) written_runs: i64,
}

/// Whether the statement itself rolls everything back when a message was not pending or a run
/// belongs to another lane. A batch commits with its own round trip, so the caller cannot undo it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GuardMode {
    /// The statement rolls back, by dividing by zero.
    InStatement,
    /// The caller checks the counts and decides.
    ByCaller,
}

#[derive(Debug, Default)]
struct AppendBatch<'r> {
    appends: AppendColumns<'r>,
    entries: EntryColumns<'r>,
    blobs: BlobColumns<'r>,
    marks: ReadMarkColumns<'r>,
    rows: RowColumns<'r>,
    spendings: SpendingColumns<'r>,
    changes: RunChangeColumns<'r>,
}

/// Writes the appends, which must be of different lanes.
pub(super) async fn write_batch(
    connection: &mut PgConnection,
    guard: GuardMode,
    appends: &[&EncodedAppend],
) -> Result<BatchResult, PgError> {
    let mut batch = AppendBatch::default();
    (0..).zip(appends).for_each(|(ord, prepared)| batch.add_append(ord, prepared));
    let parts = batch.needed_parts();
    let rows = connection
        .query(append_statement::append_sql(parts, guard), &batch.to_values(parts))
        .await?;
    let mut landed = BatchResult::default();
    for row in rows {
        let number = |column| row.try_get::<_, i64>(column).unwrap_or_default();
        landed.passed_fence.insert(number(0));
        (landed.marked_messages, landed.written_runs) = (number(1), number(2));
    }
    Ok(landed)
}

impl<'r> AppendBatch<'r> {
    fn add_append(&mut self, ord: i64, prepared: &'r EncodedAppend) {
        let append = &prepared.append;
        self.rows.add_append_rows(ord, prepared);
        let given = &mut self.appends;
        given.ord.push(ord);
        given.lane.push(Cow::Borrowed(append.lane.as_str()));
        given.owner.push(Cow::Borrowed(&*append.owner));
        given.epoch.push(append.epoch.cast_signed());
        given.head.push(append.head.cast_signed());
        given.entries.push(append.entries.len().cast_signed() as i64);
        given.wake_at.push(append.wake_at.map(millis_column));
        given.active_run.push(append.active_run.as_ref().map(RunId::as_str).map(replace_nul));
        given.read_messages.push(append.messages_read.len().cast_signed() as i64);
        given.runs.push(prepared.run_count());
        for message in &append.messages_read {
            self.marks.ord.push(ord);
            self.marks.message_id.push(message.cast_signed());
        }
        for change in &prepared.run_changes {
            self.changes.ord.push(ord);
            self.changes.key.push(Cow::Borrowed(&change.key));
            self.changes.run_id.push(Cow::Borrowed(&change.run));
            self.changes.body.push(replace_nul(&change.body));
        }
        if let Some(change) = &append.spending {
            self.spendings.ord.push(ord);
            self.spendings.account.push(replace_nul(&change.account.profile));
            self.spendings.period.push(replace_nul(&change.account.period));
            self.spendings.tokens.push(change.tokens);
            self.spendings.usd_micros.push(change.usd_micros);
        }
        self.add_entries(ord, prepared);
    }

    fn add_entries(&mut self, ord: i64, prepared: &'r EncodedAppend) {
        let entries = prepared.append.entries.iter().zip(&prepared.hashes);
        for (offset, (entry, hash)) in (1..).zip(entries) {
            let bytes = entry.line.as_bytes();
            self.entries.ord.push(ord);
            self.entries.offset_in_append.push(offset);
            self.entries.at.push(millis_column(entry.at));
            self.entries.body.push(hash.is_none().then_some(bytes));
            self.entries.hash.push(hash.as_ref().map(<[u8; 32]>::as_slice));
            if let Some(hash) = hash {
                self.blobs.ord.push(ord);
                self.blobs.hash.push(hash.as_slice());
                self.blobs.bytes.push(bytes);
            }
        }
    }

    /// Returns the parts that have rows to write.
    fn needed_parts(&self) -> StatementParts {
        let RowColumns { traces, raws, results, .. } = &self.rows;
        StatementParts {
            blobs: !self.blobs.ord.is_empty(),
            marks: !self.marks.ord.is_empty(),
            replies: !traces.ord.is_empty() || !raws.ord.is_empty(),
            results: !results.ord.is_empty(),
            spendings: !self.spendings.ord.is_empty(),
            changes: !self.changes.ord.is_empty(),
        }
    }

    /// Returns the values in the order of the statement's parameters.
    fn to_values(&self, parts: StatementParts) -> Vec<SqlValue<'_>> {
        let rows = &self.rows;
        let values = [
            (true, self.appends.values()),
            (parts.blobs, self.blobs.values()),
            (true, self.entries.values()),
            (parts.marks, self.marks.values()),
            (true, rows.runs.values()),
            (parts.replies, rows.traces.values()),
            (parts.results, rows.results.values()),
            (true, rows.checkpoints.values()),
            (true, rows.events.values()),
            (parts.replies, rows.raws.values()),
            (parts.spendings, self.spendings.values()),
            (parts.changes, self.changes.values()),
        ];
        values.into_iter().filter(|(is_part, _)| *is_part).flat_map(|(_, part)| part).collect()
    }
}

/// An append and its encoded parts.
#[derive(Debug)]
pub(super) struct EncodedAppend {
    pub(super) append: AppendRequest,
    /// The hashes of entries that are stored as blobs.
    pub(super) hashes: Vec<Option<BlobHash>>,
    /// The list in each row, encoded for its column; empty lists are not written.
    pub(super) lists: Vec<Option<String>>,
    pub(super) messages: Vec<(LaneId, EncodedMessage)>,
    pub(super) run_changes: Vec<RunChange>,
}

impl EncodedAppend {
    pub(super) fn new(append: AppendRequest) -> Result<Self, StoreError> {
        let messages = append
            .outbox
            .iter()
            .map(|(to, message)| Ok((to.clone(), EncodedMessage::new(message)?)))
            .collect::<Result<_, StoreError>>()?;
        Ok(Self {
            hashes: append
                .entries
                .iter()
                .map(|entry| encoding::hash_if_large(&entry.line))
                .collect(),
            lists: append.rows.iter().map(encode_row_list).collect::<Result<_, _>>()?,
            messages,
            run_changes: run_changes(&append),
            append,
        })
    }

    /// Returns how many runs the append writes.
    pub(super) fn run_count(&self) -> i64 {
        self.run_ids().collect::<HashSet<_>>().len().cast_signed() as i64
    }

    /// Returns the runs that the append writes, in the order of their rows.
    pub(super) fn run_ids(&self) -> impl DoubleEndedIterator<Item = &RunId> {
        self.append.rows.iter().filter_map(|row| match row {
            Row::Run(run) => Some(&run.run),
            Row::Trace(_)
            | Row::ToolResult(_)
            | Row::Checkpoint(_)
            | Row::Event(_)
            | Row::Raw(_) => None,
        })
    }
}

fn encode_row_list(row: &Row) -> Result<Option<String>, StoreError> {
    match row {
        Row::Trace(trace) => {
            encoding::encode_json("the trace", &calls_without_nul(&trace.tool_calls)).map(Some)
        }
        Row::Checkpoint(checkpoint) => {
            encoding::encode_list("the checkpoint", &checkpoint.completed_calls)
        }
        Row::Run(run) => encoding::encode_other_causes(run),
        Row::ToolResult(_) | Row::Event(_) | Row::Raw(_) => Ok(None),
    }
}

/// Returns the calls without NUL, which `jsonb` rejects in every notation.
fn calls_without_nul(calls: &[TraceCall]) -> Vec<TraceCall> {
    let shown = |call: &TraceCall| TraceCall {
        name: replace_nul(&call.name).as_ref().into(),
        input_hash: replace_nul(&call.input_hash).as_ref().into(),
        ..call.clone()
    };
    calls.iter().map(shown).collect()
}
