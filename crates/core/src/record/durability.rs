//! What each record must survive before it counts.

use super::Record;
use crate::settings::DurabilityMode;

/// What a record must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// Nothing: it is applied and never stored.
    Volatile,
    /// The death of the process.
    Commit,
    /// Power loss.
    Barrier,
}

impl Record {
    /// What this record must survive.
    #[must_use]
    pub fn durability(&self) -> Durability {
        match self {
            Self::EarlyJudged { .. } | Self::Launched { .. } => Durability::Volatile,
            Self::Started { .. }
            | Self::Spawned { .. }
            | Self::Answered { .. }
            // Asked again it may say otherwise, and the call may have run by then.
            | Self::Classified { .. }
            | Self::CancelRequested { .. }
            | Self::Finished { .. } => Durability::Barrier,
            Self::Configured { .. }
            | Self::Queued { .. }
            | Self::MailRefused { .. }
            | Self::Steered { .. }
            | Self::RunStarted { .. }
            | Self::Asked { .. }
            | Self::Replied { .. }
            | Self::AttemptAbandoned { .. }
            | Self::Deferred { .. }
            | Self::Anomaly { .. }
            | Self::ReplyKept { .. }
            | Self::ReplyDropped { .. }
            | Self::Noted { .. }
            | Self::RoundOpened { .. }
            | Self::InputChanged { .. }
            | Self::Judged { .. }
            | Self::ModeChanged { .. }
            | Self::QuestionDue { .. }
            | Self::Questioned { .. }
            | Self::Retried { .. }
            | Self::Completed { .. }
            | Self::Settled { .. }
            | Self::CallLost { .. }
            | Self::CallCleared { .. }
            | Self::RoundClosed { .. }
            | Self::TurnedFatal { .. }
            | Self::Compacted { .. }
            | Self::CompactionAsked { .. }
            | Self::Pruned { .. }
            | Self::Climbed { .. }
            | Self::CounselSought { .. }
            | Self::CounselHeard { .. }
            | Self::PromptWithdrawn { .. }
            | Self::Rejected { .. }
            | Self::Suspected { .. }
            | Self::Structured { .. }
            | Self::Watched { .. }
            | Self::TimeUp { .. }
            | Self::Slept { .. }
            | Self::BudgetWarned { .. }
            | Self::BudgetExtended { .. }
            | Self::SpendingSeen { .. }
            | Self::Guided { .. }
            | Self::FellBack { .. }
            | Self::Granted { .. }
            | Self::JournalChanged { .. }
            | Self::JournalShown { .. }
            | Self::Remembered { .. }
            | Self::ChildBack { .. }
            | Self::ChildrenRecalled { .. }
            | Self::Employed { .. }
            | Self::ContextAdded { .. }
            | Self::Adopted { .. }
            | Self::DriftAccepted { .. }
            | Self::Forked { .. } => Durability::Commit,
        }
    }
}

/// What a whole entry must survive: the most any of its records does.
#[must_use]
pub fn durability(records: &[Record], mode: DurabilityMode) -> Durability {
    let most = records.iter().map(Record::durability).max().unwrap_or(Durability::Volatile);
    match (mode, most) {
        (DurabilityMode::Strict, Durability::Commit) => Durability::Barrier,
        (DurabilityMode::Strict | DurabilityMode::Scheduled, most) => most,
    }
}
