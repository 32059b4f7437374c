//! Reviews: points at which a run waits for a hook, a judge model or a summariser.
//!
//! A review has no side effects, so a new owner simply requests it again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::context::{CompactionTrigger, RecoveryStep};
use crate::log::record::Transition;
use crate::message::reply::TokenUsage;
use crate::stop::StopCause;

/// Ordinal of a review within its conversation.
pub type ReviewId = u32;

/// The subject of a review.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Review {
    /// Hooks review the prompt of a run that has just started.
    Prompt {},
    /// Hooks and the gate command review a complete answer.
    Answer {
        /// Why the run would end.
        cause: StopCause,
    },
    /// The judge reviews the answer, after hooks accepted it.
    Judge {
        /// Why the run would end.
        cause: StopCause,
        /// Output tokens of the judge.
        max_tokens: u64,
        /// Tokens reserved for the judge.
        reserved_tokens: u64,
    },
    /// Hooks are notified that old results and turns are about to be shortened or removed.
    Pruning {
        /// How much the pruning must free.
        goal: PruneGoal,
        /// Why the model is called afterwards.
        next_transition: Transition,
    },
    /// Hooks are notified that a compaction is about to happen.
    Compaction {
        /// The planned compaction.
        compaction: PlannedCompaction,
    },
    /// A model summarises what will be removed.
    Summary {
        /// The planned compaction.
        compaction: PlannedCompaction,
        /// What hooks want the summary to keep.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instructions: Option<Arc<str>>,
        /// Output tokens of the summary.
        max_tokens: u64,
        /// Tokens reserved for the summary.
        reserved_tokens: u64,
    },
}

/// How much pruning must free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PruneGoal {
    /// As much as a compaction must free.
    CompactionTarget,
    /// Enough for one more model call.
    OneCall,
}

/// A planned compaction.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PlannedCompaction {
    /// The step of the recovery ladder.
    pub step: RecoveryStep,
    /// The first segment that is kept.
    pub keep_from: u64,
    /// Why the model is called afterwards.
    pub next_transition: Transition,
    /// Why the compaction is made.
    #[serde(default, skip_serializing_if = "CompactionTrigger::is_threshold")]
    pub trigger: CompactionTrigger,
}

/// The result of a review.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewResult {
    /// No objection.
    Pass {
        /// Context for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<Arc<str>>,
    },
    /// Blocked: the prompt is not sent, the answer does not count, the compaction is postponed.
    Block {
        /// Why it is blocked.
        reason: Arc<str>,
    },
    /// The run must end.
    Stop {
        /// Why the run must end.
        reason: Arc<str>,
    },
    /// Text of a model: a summary, or a ruling of the judge.
    ModelText {
        /// The text.
        text: Arc<str>,
        /// Tokens that the model used.
        usage: TokenUsage,
    },
    /// The review failed or timed out.
    Failed {
        /// Why the review failed.
        why: Arc<str>,
        /// Tokens that the review used nevertheless.
        usage: TokenUsage,
    },
}

impl Review {
    /// Returns the name of the review, as traces print it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Prompt {} => "prompt",
            Self::Answer { .. } => "answer",
            Self::Judge { .. } => "ruling",
            Self::Pruning { .. } => "pruning",
            Self::Compaction { .. } => "compaction",
            Self::Summary { .. } => "summary",
        }
    }

    /// Returns why the run would end with the answer that is reviewed.
    #[must_use]
    pub fn stop_cause(&self) -> Option<StopCause> {
        match self {
            Self::Answer { cause } | Self::Judge { cause, .. } => Some(*cause),
            Self::Prompt {}
            | Self::Pruning { .. }
            | Self::Compaction { .. }
            | Self::Summary { .. } => None,
        }
    }

    /// Returns the worst-case usage of the review: a model is called, and charged in full if its
    /// answer is not received.
    #[must_use]
    pub fn full_usage(&self) -> Option<TokenUsage> {
        match self {
            Self::Summary { max_tokens, reserved_tokens, .. }
            | Self::Judge { max_tokens, reserved_tokens, .. } => Some(TokenUsage {
                input_tokens: reserved_tokens.saturating_sub(*max_tokens),
                output_tokens: *max_tokens,
                ..TokenUsage::default()
            }),
            Self::Prompt {}
            | Self::Answer { .. }
            | Self::Pruning { .. }
            | Self::Compaction { .. } => None,
        }
    }
}
