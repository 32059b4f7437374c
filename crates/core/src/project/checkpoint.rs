//! Safe boundaries, and which of them a run can be taken up from without asking anybody.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a record no row is made of is passed over; a new kind decides for itself"
)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::CheckpointRow;
use crate::conversation::Conversation;
use crate::ids::RunId;
use crate::log::Entry;
use crate::record::Record;
use crate::run::{Counters, Run};

/// What kind of boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointKind {
    /// The user's input is persisted.
    Input,
    /// The model's reply is logged.
    LlmResponse,
    /// Tool results are persisted.
    ToolResult,
    /// Room was made.
    Compaction,
    /// The journal changed.
    JournalUpdate,
    /// A human was asked.
    HumanPause,
    /// The run is about to report.
    Final,
}

impl CheckpointKind {
    /// Whether a run found at this boundary goes on by itself.
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

    /// The kind a record stands for. An answer is the user's input.
    fn of(record: &Record) -> Option<Self> {
        match record {
            Record::RunStarted { .. } | Record::Steered { .. } | Record::Answered { .. } => {
                Some(Self::Input)
            }
            Record::Replied { .. } => Some(Self::LlmResponse),
            Record::Completed { .. } | Record::RoundClosed {} => Some(Self::ToolResult),
            Record::Compacted { .. } | Record::Pruned { .. } => Some(Self::Compaction),
            Record::JournalChanged { .. } => Some(Self::JournalUpdate),
            Record::Questioned { .. } => Some(Self::HumanPause),
            Record::Finished { .. } => Some(Self::Final),
            _ => None,
        }
    }

    /// Its name in the table.
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

/// Holds a run's boundary back until the entry is through: of several the last counts, except that
/// the results of a round do not hide that the journal changed with them. A run that ends has its
/// own, whatever begins after it in the same entry.
#[derive(Default)]
pub(super) struct Pending {
    kind: Option<CheckpointKind>,
    closed: Vec<Arc<str>>,
}

impl Pending {
    /// Looks at a record that is about to be applied: the calls of a round that closes are complete.
    pub(super) fn before(&mut self, now: &Conversation, record: &Record) {
        if matches!(record, Record::RoundClosed {}) {
            self.closed = completed_calls(now);
        }
    }

    /// Looks at a record that was applied; gives out the boundary of a run that ended.
    pub(super) fn after(
        &mut self,
        now: &Conversation,
        entry: &Entry,
        record: &Record,
    ) -> Option<CheckpointRow> {
        let kind = CheckpointKind::of(record)?;
        let Record::Finished { run, .. } = record else {
            let journal = self.kind == Some(CheckpointKind::JournalUpdate);
            if !(journal && kind == CheckpointKind::ToolResult) {
                self.kind = Some(kind);
            }
            return None;
        };
        let counters = now.last_end.as_ref().map(|ended| &ended.counters);
        let closed = std::mem::take(&mut self.closed);
        Some(row(now, entry, kind, (run, counters), closed))
    }

    /// The boundary the active run reached, as it is after the whole entry.
    pub(super) fn finish(self, now: &Conversation, entry: &Entry) -> Option<CheckpointRow> {
        let (run, kind) = (now.run.as_ref()?, self.kind?);
        Some(row(now, entry, kind, (&run.id, Some(&run.counters)), self.closed))
    }
}

fn row(
    now: &Conversation,
    entry: &Entry,
    kind: CheckpointKind,
    (run, counters): (&RunId, Option<&Counters>),
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
        persisted_messages: now.transcript.messages(),
        prompt_hash: now.prompt_hash.clone(),
        completed_calls: if open.is_empty() { closed } else { open },
    }
}

/// The calls of the open round that have their results, by the ids of the provider.
fn completed_calls(now: &Conversation) -> Vec<Arc<str>> {
    let round = now.run.as_ref().and_then(Run::round);
    let settled = round.into_iter().flat_map(|round| &round.calls).filter(|call| call.is_settled());
    settled.map(|call| call.tool_use.id.clone()).collect()
}
