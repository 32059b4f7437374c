//! The possible results of reviews: hooks for prompts, answers and compactions, the judge, and the
//! summariser.

use std::sync::Arc;

use windlass_core::message::reply::TokenUsage;
use windlass_core::run::review::{Review, ReviewResult};

use super::config::UsageReporting;

/// A possible result of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReviewChoice {
    Pass,
    /// No objection, and context for the model.
    PassWithContext,
    Block,
    Stop,
    /// A summary.
    Summary,
    /// A summary longer than it may be.
    LongSummary,
    /// A blank summary.
    BlankSummary,
    /// A ruling that accepts the answer.
    Yes,
    /// A ruling that rejects the answer.
    No,
    /// The review fails.
    Fail,
}

impl ReviewChoice {
    /// Whether a review of this kind can have this result.
    pub(crate) fn applies_to(self, about: &Review) -> bool {
        match about {
            Review::Summary { .. } => {
                matches!(self, Self::Summary | Self::LongSummary | Self::BlankSummary | Self::Fail)
            }
            Review::Judge { .. } => {
                matches!(
                    self,
                    Self::Yes | Self::No | Self::Summary | Self::BlankSummary | Self::Fail
                )
            }
            Review::Prompt {}
            | Review::Answer { .. }
            | Review::Pruning { .. }
            | Review::Compaction { .. } => {
                matches!(
                    self,
                    Self::Pass | Self::PassWithContext | Self::Block | Self::Stop | Self::Fail
                )
            }
        }
    }
}

/// The ruling of the judge that accepts an answer, and the one that rejects it.
pub(crate) const YES: &str = "yes";
pub(crate) const NO: &str = "no: more";

/// Returns the result of the review, and what it cost.
pub(crate) fn review_result(
    says: ReviewChoice,
    about: &Review,
    billing: UsageReporting,
) -> ReviewResult {
    let usage = review_usage(about, billing);
    let summary = |text: &str| ReviewResult::ModelText { text: Arc::from(text), usage };
    match says {
        ReviewChoice::Pass => ReviewResult::Pass { context: None },
        ReviewChoice::PassWithContext => ReviewResult::Pass { context: Some(Arc::from("k")) },
        ReviewChoice::Block => ReviewResult::Block { reason: Arc::from("n") },
        ReviewChoice::Stop => ReviewResult::Stop { reason: Arc::from("e") },
        ReviewChoice::Summary => summary("sum"),
        ReviewChoice::LongSummary => summary(&"long ".repeat(400)),
        ReviewChoice::BlankSummary => summary(" "),
        ReviewChoice::Yes => summary(YES),
        ReviewChoice::No => summary(NO),
        ReviewChoice::Fail => ReviewResult::Failed { why: Arc::from("f"), usage },
    }
}

fn review_usage(about: &Review, billing: UsageReporting) -> TokenUsage {
    match (about.full_usage(), billing) {
        (Some(all), UsageReporting::Full) => all,
        (Some(_), UsageReporting::Little | UsageReporting::Honest) => {
            TokenUsage { input_tokens: 1, output_tokens: 1, ..TokenUsage::default() }
        }
        (None, _) => TokenUsage::default(),
    }
}
