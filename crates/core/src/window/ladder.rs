//! The recovery ladder: standard compaction, deep prune, a human. A rung is climbed when the window
//! fills again too soon, and after a few recoveries the run is left to its other limits.

use serde::{Deserialize, Serialize};

use crate::limits::Limits;

/// A step of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// R1: summarise all but the last messages, ten unless set otherwise.
    Compact,
    /// R2: summarise all but the last four.
    DeepPrune,
    /// R3: ask the human.
    AskHuman,
}

/// Why old messages are summed up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionTrigger {
    /// The window is fuller than it may be.
    #[default]
    Threshold,
    /// A person asked for it.
    Requested,
    /// The provider said that the window is full, or cut reply after reply. Once in a run.
    Reactive,
}

impl CompactionTrigger {
    /// Whether the window alone is the reason, which is not written down.
    pub(crate) fn is_threshold(&self) -> bool {
        *self == Self::Threshold
    }
}

/// What a run has used of the ladder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Recoveries {
    /// R1.
    pub compactions: u32,
    /// R2.
    pub prunes: u32,
    /// All rungs together.
    pub total: u32,
    /// Iteration of the last R1.
    pub last_compaction: Option<u32>,
    /// Iteration of the last R2.
    pub last_prune: Option<u32>,
}

impl Recoveries {
    /// The rung for a window that is tight at `iteration`; `None` when all of them were used.
    /// Filling up again too soon means that the last rung was not enough.
    #[must_use]
    pub fn next(&self, iteration: u32, limits: &Limits) -> Option<Rung> {
        let soon = |last: Option<u32>| {
            last.is_some_and(|at| iteration.saturating_sub(at) <= limits.recovery_iterations)
        };
        if self.total >= limits.recoveries {
            return None;
        }
        Some(match (soon(self.last_prune), soon(self.last_compaction)) {
            (true, _) => Rung::AskHuman,
            (false, true) => Rung::DeepPrune,
            (false, false) => Rung::Compact,
        })
    }

    /// Keeps account of a rung that was climbed.
    pub fn climbed(&mut self, rung: Rung, iteration: u32) {
        self.total = self.total.saturating_add(1);
        match rung {
            Rung::Compact => {
                self.compactions = self.compactions.saturating_add(1);
                self.last_compaction = Some(iteration);
            }
            Rung::DeepPrune => {
                self.prunes = self.prunes.saturating_add(1);
                self.last_prune = Some(iteration);
            }
            Rung::AskHuman => {
                // A human who answered gives the ladder a fresh start.
                self.last_compaction = None;
                self.last_prune = None;
            }
        }
    }
}

/// Messages that a deep prune leaves as they are.
const DEEP_PRUNE_MESSAGES: u32 = 4;

impl Rung {
    /// Messages that stay as they are.
    #[must_use]
    pub fn kept_messages(self, limits: &Limits) -> u32 {
        match self {
            Self::Compact | Self::AskHuman => limits.kept_messages,
            Self::DeepPrune => limits.kept_messages.min(DEEP_PRUNE_MESSAGES),
        }
    }
}
