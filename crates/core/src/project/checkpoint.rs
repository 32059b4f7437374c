//! Safe boundaries, and which of them a run can be taken up from without asking anybody.

use serde::{Deserialize, Serialize};

use super::CheckpointRow;
use crate::conversation::Conversation;
use crate::ids::RunId;
use crate::log::Entry;
use crate::record::Record;
use crate::run::Run;

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

    /// The kind a record stands for; of several in one entry the last in this order counts.
    fn of(record: &Record) -> Option<Self> {
        match record {
            Record::RunStarted { .. } | Record::Steered { .. } => Some(Self::Input),
            Record::Replied { .. } => Some(Self::LlmResponse),
            Record::Completed { .. } | Record::RoundClosed {} => Some(Self::ToolResult),
            Record::Compacted { .. } => Some(Self::Compaction),
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

/// The boundary an entry reaches, if it reaches one.
pub(super) fn checkpoint(now: &Conversation, entry: &Entry) -> Option<CheckpointRow> {
    let last = entry
        .records
        .iter()
        .rev()
        .find_map(|record| CheckpointKind::of(record).map(|kind| (kind, record)));
    let (kind, record) = last?;
    let round = now.run.as_ref().and_then(Run::round);
    let settled = round.into_iter().flat_map(|round| &round.calls).filter(|call| call.is_settled());
    let counters = now.run.as_ref().map(|run| &run.counters);
    Some(CheckpointRow {
        run: run_of(now, record)?,
        seq: entry.seq,
        kind,
        iteration: counters.map_or(0, |counters| counters.model_calls),
        message_cursor: now.transcript.segments().len() as u64,
        persisted: entry.seq,
        prompt_hash: now.prompt_hash.clone(),
        completed_calls: settled.map(|call| call.tool_use.id.clone()).collect(),
    })
}

fn run_of(now: &Conversation, record: &Record) -> Option<RunId> {
    match record {
        Record::Finished { run, .. } => Some(run.clone()),
        _ => now.run.as_ref().map(|run| run.id.clone()),
    }
}
