//! Moments at which a run waits for somebody who is neither its model nor one of its calls: hooks
//! that look at a prompt or an answer, a judge, and whoever sums up what is to be left out.
//!
//! Asking for counsel has no effect in the world, so a new owner simply asks again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::record::Transition;
use crate::reply::Usage;
use crate::stop::StopCause;
use crate::window::{CompactionTrigger, Rung};

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
    /// Hooks have nothing against the answer: does it fulfil what a judge must find in it?
    Ruling {
        /// Why the run would end.
        cause: StopCause,
        /// Tokens the ruling may have.
        max_tokens: u64,
        /// Tokens set aside for it.
        reserved_tokens: u64,
    },
    /// Hooks hear that old results and turns are about to be cut or taken out.
    Pruning {
        /// How much room that is to make.
        goal: Goal,
        /// Why the model will be asked then.
        then: Transition,
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

/// How much room is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// As much as a compaction must bring.
    Gain,
    /// Enough for one more call.
    OneCall,
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
    /// Why it is made.
    #[serde(default, skip_serializing_if = "CompactionTrigger::is_threshold")]
    pub trigger: CompactionTrigger,
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
    /// What a model wrote: a summary, or a ruling.
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
            Self::Ruling { .. } => "ruling",
            Self::Pruning { .. } => "pruning",
            Self::Compaction { .. } => "compaction",
            Self::Summary { .. } => "summary",
        }
    }

    /// Why the run would end with the answer that is looked at.
    #[must_use]
    pub fn ends(&self) -> Option<StopCause> {
        match self {
            Self::Answer { cause } | Self::Ruling { cause, .. } => Some(*cause),
            Self::Prompt {}
            | Self::Pruning { .. }
            | Self::Compaction { .. }
            | Self::Summary { .. } => None,
        }
    }

    /// What it may cost: a model is asked, and charged in full where its answer is not heard.
    #[must_use]
    pub fn in_full(&self) -> Option<Usage> {
        match self {
            Self::Summary { max_tokens, reserved_tokens, .. }
            | Self::Ruling { max_tokens, reserved_tokens, .. } => Some(Usage {
                input_tokens: reserved_tokens.saturating_sub(*max_tokens),
                output_tokens: *max_tokens,
                ..Usage::default()
            }),
            Self::Prompt {}
            | Self::Answer { .. }
            | Self::Pruning { .. }
            | Self::Compaction { .. } => None,
        }
    }
}
