//! What is decided about one call, and what happens when the rules leave it open.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The judgement on one call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It runs.
    Allow {
        /// The rule that said so.
        by: Arc<str>,
    },
    /// A human decides.
    Ask {
        /// The rule that said so.
        by: Arc<str>,
    },
    /// A classifier decides.
    Refer {},
    /// It does not run.
    Deny {
        /// Why, for the model.
        reason: Arc<str>,
    },
}

/// The fate of a call that nothing speaks for or against.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Otherwise {
    /// A human decides.
    #[default]
    Ask,
    /// It runs.
    Allow,
    /// It does not run.
    Deny,
}

/// Whether a human can be asked for leave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Human {
    /// Questions reach somebody.
    #[default]
    Reachable,
    /// Nobody is there: what would be asked is denied.
    Absent,
}

/// What a hook that looked at the call first thinks of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lean {
    /// Nothing: the rules decide.
    #[default]
    Neutral,
    /// It would let it run, if no rule holds it back.
    Allow,
    /// It wants a human to look.
    Ask,
}

impl Verdict {
    /// A human decides, if there is one.
    #[must_use]
    pub fn ask(tool: &str, by: Arc<str>, human: Human) -> Self {
        match human {
            Human::Reachable => Self::Ask { by },
            Human::Absent => {
                let reason =
                    format!("{tool} requires approval, and no one is available to approve it");
                Self::Deny { reason: Arc::from(reason) }
            }
        }
    }
}
