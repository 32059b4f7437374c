//! Moments at which a run waits for somebody who is neither its model nor one of its calls: hooks
//! that look at a prompt or an answer, and whoever sums up what is to be left out.
//!
//! Asking for counsel has no effect in the world, so a new owner simply asks again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::record::Transition;
use crate::reply::Usage;
use crate::stop::StopCause;
use crate::window::Rung;

/// Ordinal of a counsel within its conversation.
pub type CounselId = u32;

/// What is to be judged or made.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counsel {
    /// Hooks look at the prompt of a run that has just begun.
    Prompt {},
    /// The answer is complete: does it count?
    Answer {
        /// Why the run would end.
        cause: StopCause,
    },
    /// Hooks hear that room is about to be made.
    Compaction {
        /// Where.
        cut: Cut,
    },
    /// Somebody sums up what will be left out.
    Summary {
        /// Where.
        cut: Cut,
        /// What hooks want the summary to keep.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wishes: Option<Arc<str>>,
        /// Tokens the summary may have.
        max_tokens: u64,
        /// Tokens set aside for it.
        reserved_tokens: u64,
    },
}

/// A compaction that is planned.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cut {
    /// Which rung of the ladder.
    pub rung: Rung,
    /// The first segment that stays as it is.
    pub keep_from: u64,
    /// Why the model will be asked then.
    pub then: Transition,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// Nothing against it.
    Pass {
        /// Something the model should know.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<Arc<str>>,
    },
    /// No: the prompt is not sent, the answer does not count, the compaction is put off.
    Block {
        /// Why.
        reason: Arc<str>,
    },
    /// The run is to end.
    Stop {
        /// Why.
        reason: Arc<str>,
    },
    /// The summary.
    Summary {
        /// Its text.
        text: Arc<str>,
        /// What it cost.
        usage: Usage,
    },
    /// Nobody answered, or not in time.
    Failed {
        /// Why.
        why: Arc<str>,
        /// What it cost nevertheless.
        usage: Usage,
    },
}

impl Counsel {
    /// Its name, as traces print it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Prompt {} => "prompt",
            Self::Answer { .. } => "answer",
            Self::Compaction { .. } => "compaction",
            Self::Summary { .. } => "summary",
        }
    }
}
