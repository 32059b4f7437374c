//! The recovery ladder: standard compaction, deep prune, question to a human. The next step is
//! taken when the window fills again too soon, and after a few recoveries the run is left to its
//! other limits.

use serde::{Deserialize, Serialize};

use crate::settings::limits::Limits;

/// A step of the recovery ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryStep {
    /// R1: summarise all but the last messages (ten by default).
    Compact,
    /// R2: summarise all but the last four messages.
    DeepPrune,
    /// R3: ask a human.
    AskHuman,
}

/// Why a compaction happens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionTrigger {
    /// The window is above its compaction threshold.
    #[default]
    Threshold,
    /// A user requested it.
    Requested,
    /// The provider reported that the window is full, or truncated reply after reply. Once in a
    /// run.
    Reactive,
}

impl CompactionTrigger {
    /// Returns whether the threshold is the trigger, which is not written to the log.
    pub(crate) fn is_threshold(&self) -> bool {
        *self == Self::Threshold
    }
}

/// What a run has used of the recovery ladder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct RecoveryHistory {
    /// Number of compactions (R1).
    pub compactions: u32,
    /// Number of deep prunes (R2).
    pub prunes: u32,
    /// Number of steps altogether.
    pub total: u32,
    /// Iteration of the last compaction (R1).
    pub last_compaction: Option<u32>,
    /// Iteration of the last deep prune (R2).
    pub last_prune: Option<u32>,
}

impl RecoveryHistory {
    /// Returns the step for a window that is tight at `iteration`; `None` when all of them were
    /// used. A window that fills again too soon means that the last step was not enough.
    #[must_use]
    pub fn next_step(&self, iteration: u32, limits: &Limits) -> Option<RecoveryStep> {
        let soon = |last: Option<u32>| {
            last.is_some_and(|at| iteration.saturating_sub(at) <= limits.recovery_iterations)
        };
        if self.total >= limits.recoveries {
            return None;
        }
        Some(match (soon(self.last_prune), soon(self.last_compaction)) {
            (true, _) => RecoveryStep::AskHuman,
            (false, true) => RecoveryStep::DeepPrune,
            (false, false) => RecoveryStep::Compact,
        })
    }

    /// Records that a step was taken.
    pub fn record_step(&mut self, step: RecoveryStep, iteration: u32) {
        self.total = self.total.saturating_add(1);
        match step {
            RecoveryStep::Compact => {
                self.compactions = self.compactions.saturating_add(1);
                self.last_compaction = Some(iteration);
            }
            RecoveryStep::DeepPrune => {
                self.prunes = self.prunes.saturating_add(1);
                self.last_prune = Some(iteration);
            }
            RecoveryStep::AskHuman => {
                // The answer of a human resets the ladder.
                self.last_compaction = None;
                self.last_prune = None;
            }
        }
    }
}

/// Messages that a deep prune keeps.
const DEEP_PRUNE_MESSAGES: u32 = 4;

impl RecoveryStep {
    /// Returns the number of messages that the step keeps.
    #[must_use]
    pub fn kept_messages(self, limits: &Limits) -> u32 {
        match self {
            Self::Compact | Self::AskHuman => limits.kept_messages,
            Self::DeepPrune => limits.kept_messages.min(DEEP_PRUNE_MESSAGES),
        }
    }
}
