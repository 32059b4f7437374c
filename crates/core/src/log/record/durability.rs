//! Durability of records: what each of them must survive before it counts.

use super::Record;
use crate::settings::conversation_settings::DurabilityMode;

/// What a record must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// Nothing: the record is applied and never stored.
    Volatile,
    /// A crash of the process.
    Commit,
    /// Power loss.
    Barrier,
}

impl Record {
    /// Returns what this record must survive.
    #[must_use]
    pub fn durability(&self) -> Durability {
        match self {
            Self::EarlyCallDecided { .. } | Self::RepeatableCallStarted { .. } => Durability::Volatile,
            Self::CallStarted { .. }
            | Self::ChildrenSpawned { .. }
            | Self::QuestionAnswered { .. }
            // A second classification may differ, and the call may have run by then.
            | Self::CallClassified { .. }
            | Self::CancelRequested { .. }
            | Self::RunFinished { .. } => Durability::Barrier,
            Self::Configured { .. }
            | Self::ServerToolsChanged { .. }
            | Self::PromptQueued { .. }
            | Self::CommandRejected { .. }
            | Self::SteeringQueued { .. }
            | Self::RunStarted { .. }
            | Self::ModelCallStarted { .. }
            | Self::ModelReplied { .. }
            | Self::ModelCallAbandoned { .. }
            | Self::ModelRetryScheduled { .. }
            | Self::AnomalyDetected { .. }
            | Self::ReplyKept { .. }
            | Self::ReplyDropped { .. }
            | Self::NoteAdded { .. }
            | Self::RoundOpened { .. }
            | Self::CallInputChanged { .. }
            | Self::PermissionDecided { .. }
            | Self::ModeChanged { .. }
            | Self::QuestionRequired { .. }
            | Self::QuestionAsked { .. }
            | Self::CallRetryScheduled { .. }
            | Self::CallReturned { .. }
            | Self::AccessRequested { .. }
            | Self::UntrustedContentAdded { .. }
            | Self::ResultFinalized { .. }
            | Self::CallLost { .. }
            | Self::CallRequeued { .. }
            | Self::RoundClosed { .. }
            | Self::FatalToolError { .. }
            | Self::Compacted { .. }
            | Self::CompactionRequested { .. }
            | Self::Pruned { .. }
            | Self::RecoveryStepUsed { .. }
            | Self::ReviewRequested { .. }
            | Self::ReviewCompleted { .. }
            | Self::PromptWithdrawn { .. }
            | Self::AnswerRejected { .. }
            | Self::AnswerMarkedSuspect { .. }
            | Self::StructuredOutputGiven { .. }
            | Self::LoopDetectionUpdated { .. }
            | Self::TimeLimitReached { .. }
            | Self::SleepDetected { .. }
            | Self::BudgetWarned { .. }
            | Self::BudgetExtended { .. }
            | Self::SharedSpendingUpdated { .. }
            | Self::GuidanceGiven { .. }
            | Self::FallbackModelSelected { .. }
            | Self::RuleGranted { .. }
            | Self::PermissionsUpdated { .. }
            | Self::ModelChangeRequested { .. }
            | Self::ModelChanged { .. }
            | Self::HistoryReplaced { .. }
            | Self::HookStopRequested { .. }
            | Self::JournalChanged { .. }
            | Self::JournalShown { .. }
            | Self::InstructionsAdded { .. }
            | Self::ToolContextAdded { .. }
            | Self::ChildResultReceived { .. }
            | Self::ChildrenCancelled { .. }
            | Self::ParentAssigned { .. }
            | Self::HookContextAdded { .. }
            | Self::HookModelCharged { .. }
            | Self::OwnerChanged { .. }
            | Self::PromptChangeAccepted { .. }
            | Self::Forked { .. } => Durability::Commit,
        }
    }
}

/// Returns what a whole entry must survive: the strictest durability of its records.
#[must_use]
pub fn entry_durability(records: &[Record], mode: DurabilityMode) -> Durability {
    let most = records.iter().map(Record::durability).max().unwrap_or(Durability::Volatile);
    match (mode, most) {
        (DurabilityMode::Strict, Durability::Commit) => Durability::Barrier,
        (DurabilityMode::Strict | DurabilityMode::Scheduled, most) => most,
    }
}
