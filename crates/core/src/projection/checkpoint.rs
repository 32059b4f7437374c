//! Checkpoints: safe boundaries, and from which of them a run can resume without a question.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a record no row is made of is passed over; a new kind decides for itself"
)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::CheckpointRow;
use crate::log::entry::Entry;
use crate::log::ids::RunId;
use crate::log::record::Record;
use crate::run::active_run::{Run, RunCounters};
use crate::run::conversation::Conversation;

/// The kind of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointKind {
    /// The user's input is persisted.
    Input,
    /// The model's reply is logged.
    LlmResponse,
    /// Tool results are persisted.
    ToolResult,
    /// The window was compacted.
    Compaction,
    /// The journal changed.
    JournalUpdate,
    /// A human was asked.
    HumanPause,
    /// The run is about to finish.
    Final,
}

impl CheckpointKind {
    /// Returns whether a run resumes from this boundary without a question.
    #[must_use]
    pub fn is_resumable(self) -> bool {
        match self {
            Self::Input
            | Self::LlmResponse
            | Self::ToolResult
            | Self::Compaction
            | Self::JournalUpdate => true,
            Self::HumanPause | Self::Final => false,
        }
    }

    /// Returns the kind of checkpoint that a record makes. An answer is the user's input.
    fn from_record(record: &Record) -> Option<Self> {
        match record {
            Record::RunStarted { .. }
            | Record::SteeringQueued { .. }
            | Record::QuestionAnswered { .. } => Some(Self::Input),
            Record::ModelReplied { .. } => Some(Self::LlmResponse),
            Record::CallReturned { .. } | Record::RoundClosed {} => Some(Self::ToolResult),
            Record::Compacted { .. } | Record::Pruned { .. } => Some(Self::Compaction),
            Record::JournalChanged { .. } => Some(Self::JournalUpdate),
            Record::QuestionAsked { .. } => Some(Self::HumanPause),
            Record::RunFinished { .. } => Some(Self::Final),
            _ => None,
        }
    }

    /// Returns the name in the table.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::LlmResponse => "llm_response",
            Self::ToolResult => "tool_result",
            Self::Compaction => "compaction",
            Self::JournalUpdate => "journal_update",
            Self::HumanPause => "human_pause",
            Self::Final => "final",
        }
    }
}

/// Holds the checkpoint of a run back until the entry is complete: of several the last counts,
/// except that the results of a round do not hide a journal change with them. A run that ends has
/// its own, whatever starts after it in the same entry.
#[derive(Default)]
pub(super) struct PendingCheckpoint {
    kind: Option<CheckpointKind>,
    closed: Vec<Arc<str>>,
}

impl PendingCheckpoint {
    /// Handles a record that is about to be applied: the calls of a round that closes are complete.
    pub(super) fn before_record(&mut self, now: &Conversation, record: &Record) {
        if matches!(record, Record::RoundClosed {}) {
            self.closed = completed_calls(now);
        }
    }

    /// Handles a record that was applied; returns the checkpoint of a run that ended.
    pub(super) fn after_record(
        &mut self,
        now: &Conversation,
        entry: &Entry,
        record: &Record,
    ) -> Option<CheckpointRow> {
        let kind = CheckpointKind::from_record(record)?;
        let Record::RunFinished { run, .. } = record else {
            let journal = self.kind == Some(CheckpointKind::JournalUpdate);
            if !(journal && kind == CheckpointKind::ToolResult) {
                self.kind = Some(kind);
            }
            return None;
        };
        let counters = now.last_run_end.as_ref().map(|ended| &ended.counters);
        let closed = std::mem::take(&mut self.closed);
        Some(checkpoint_row(now, entry, kind, (run, counters), closed))
    }

    /// Returns the checkpoint of the active run, after the whole entry.
    pub(super) fn finish(self, now: &Conversation, entry: &Entry) -> Option<CheckpointRow> {
        let (run, kind) = (now.run.as_ref()?, self.kind?);
        Some(checkpoint_row(now, entry, kind, (&run.id, Some(&run.counters)), self.closed))
    }
}

fn checkpoint_row(
    now: &Conversation,
    entry: &Entry,
    kind: CheckpointKind,
    (run, counters): (&RunId, Option<&RunCounters>),
    closed: Vec<Arc<str>>,
) -> CheckpointRow {
    let is_active = now.run.as_ref().is_some_and(|active| active.id == *run);
    let open = if is_active { completed_calls(now) } else { Vec::new() };
    CheckpointRow {
        run: run.clone(),
        seq: entry.seq,
        kind,
        iteration: counters.map_or(0, |counters| counters.iterations),
        message_cursor: now.transcript.segments().len() as u64,
        persisted_messages: now.transcript.message_count(),
        prompt_hash: now.prompt_hash.clone(),
        completed_calls: if open.is_empty() { closed } else { open },
    }
}

/// Returns the calls of the open round that have their results, by the ids of the provider.
fn completed_calls(now: &Conversation) -> Vec<Arc<str>> {
    let round = now.run.as_ref().and_then(Run::round);
    let settled =
        round.into_iter().flat_map(|round| &round.calls).filter(|call| call.is_finished());
    settled.map(|call| call.tool_use.id.clone()).collect()
}
