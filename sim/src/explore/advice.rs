//! What those can say whom a run waits for: hooks at its beginning, its end and before room is made,
//! and whoever sums up.

use std::sync::Arc;

use windlass_core::counsel::{Advice, Counsel};
use windlass_core::reply::Usage;

use super::config::Billing;

/// What somebody says who is consulted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advise {
    Pass,
    /// Nothing against it, and something the model should know.
    Tell,
    Block,
    Stop,
    /// A summary.
    Summary,
    /// A summary longer than it may be.
    Long,
    /// A summary that says nothing.
    Blank,
    /// A ruling for the answer.
    Yes,
    /// A ruling against it.
    No,
    /// Nobody answers.
    Fail,
}

impl Advise {
    /// Whether somebody who was asked about this could say so.
    pub(crate) fn fits(self, about: &Counsel) -> bool {
        match about {
            Counsel::Summary { .. } => {
                matches!(self, Self::Summary | Self::Long | Self::Blank | Self::Fail)
            }
            Counsel::Ruling { .. } => {
                matches!(self, Self::Yes | Self::No | Self::Summary | Self::Blank | Self::Fail)
            }
            Counsel::Prompt {}
            | Counsel::Answer { .. }
            | Counsel::Pruning { .. }
            | Counsel::Compaction { .. } => {
                matches!(self, Self::Pass | Self::Tell | Self::Block | Self::Stop | Self::Fail)
            }
        }
    }
}

/// What a judge says for an answer, and against it.
pub(crate) const YES: &str = "yes";
pub(crate) const NO: &str = "no: more";

/// The advice, and what it cost.
pub(crate) fn advice(says: Advise, about: &Counsel, billing: Billing) -> Advice {
    let usage = cost(about, billing);
    let summary = |text: &str| Advice::Summary { text: Arc::from(text), usage };
    match says {
        Advise::Pass => Advice::Pass { context: None },
        Advise::Tell => Advice::Pass { context: Some(Arc::from("k")) },
        Advise::Block => Advice::Block { reason: Arc::from("n") },
        Advise::Stop => Advice::Stop { reason: Arc::from("e") },
        Advise::Summary => summary("sum"),
        Advise::Long => summary(&"long ".repeat(400)),
        Advise::Blank => summary(" "),
        Advise::Yes => summary(YES),
        Advise::No => summary(NO),
        Advise::Fail => Advice::Failed { why: Arc::from("f"), usage },
    }
}

fn cost(about: &Counsel, billing: Billing) -> Usage {
    match (about.in_full(), billing) {
        (Some(all), Billing::Full) => all,
        (Some(_), Billing::Little | Billing::Honest) => {
            Usage { input_tokens: 1, output_tokens: 1, ..Usage::default() }
        }
        (None, _) => Usage::default(),
    }
}
