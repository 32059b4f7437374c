//! The permission decision about one call, and what happens when the rules leave it open.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::access::ASKED_BY_SANDBOX;
use super::subject::CallSubject;

/// What requires approval if a hook does.
pub(crate) const ASKED_BY_HOOK: &str = "hook";

/// The permission decision about one call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionDecision {
    /// The call runs.
    Allow {
        /// The rule that allowed it.
        by: Arc<str>,
    },
    /// A human decides (approval).
    Ask {
        /// The rule that requires approval.
        by: Arc<str>,
        /// Why, if a hook said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Arc<str>>,
    },
    /// A classifier decides.
    Classify {},
    /// The call does not run.
    Deny {
        /// What denied the call.
        by: DenialSource,
        /// Reason for the model.
        reason: Arc<str>,
    },
}

/// What denied a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DenialSource {
    /// A deny rule matches.
    Rule,
    /// The permission mode allows no such call.
    Mode,
    /// No rule allows the call.
    NoRule,
    /// The call concerns something that no rule can allow.
    Protected,
    /// The call requires approval, and no human is available.
    NoApprover,
    /// A hook.
    Hook,
    /// The classifier.
    Classifier,
    /// A human.
    Human,
    /// No human answered the approval question in time.
    Expired,
}

/// The decision about a call that no rule matches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefaultDecision {
    /// A human decides.
    #[default]
    Ask,
    /// The call runs.
    Allow,
    /// The call does not run.
    Deny,
}

/// Whether a human can be asked for approval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HumanAvailability {
    /// Questions reach a human.
    #[default]
    Available,
    /// No human: calls that need approval are denied.
    Absent,
    /// No human can be asked, but hooks may approve a call: what they leave open is denied.
    HooksOnly,
}

/// The preference of a hook that reviewed the call first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookPreference {
    /// No preference: the rules decide.
    #[default]
    Neutral,
    /// The hook allows the call, if no rule denies it or requires approval.
    Allow,
    /// The hook wants a human to approve the call.
    Ask,
}

impl PermissionDecision {
    /// Returns a denial.
    #[must_use]
    pub fn deny(by: DenialSource, reason: &Arc<str>) -> Self {
        Self::Deny { by, reason: reason.clone() }
    }

    /// Returns the decision with the reason of the hook that wants a human to approve the call: for
    /// the human, or for the model if no human is available.
    #[must_use]
    pub fn with_hook_reason(self, told: Option<Arc<str>>) -> Self {
        match (self, told) {
            (Self::Ask { by, .. }, told) if &*by == ASKED_BY_HOOK => Self::Ask { by, reason: told },
            (Self::Deny { by: by @ DenialSource::NoApprover, .. }, Some(reason)) => {
                Self::Deny { by, reason }
            }
            (other, _) => other,
        }
    }

    /// Returns the decision with the reason for a person, if it asks for what the sandbox kept a
    /// command from.
    #[must_use]
    pub(super) fn with_blocked_access(self, subject: &CallSubject) -> Self {
        match (self, subject.added_access()) {
            (Self::Ask { by, .. }, Some(added)) if &*by == ASKED_BY_SANDBOX => {
                let parts = added.descriptions().collect::<Vec<_>>().join(", ");
                let reason = Some(Arc::from(format!("the sandbox kept it from {parts}")));
                Self::Ask { by, reason }
            }
            (other, _) => other,
        }
    }

    /// Returns a question to a human, or a denial if no human is available.
    #[must_use]
    pub fn ask_or_deny(tool: &str, by: Arc<str>, human: HumanAvailability) -> Self {
        match human {
            HumanAvailability::Available | HumanAvailability::HooksOnly => {
                Self::Ask { by, reason: None }
            }
            HumanAvailability::Absent => {
                let reason =
                    format!("{tool} requires approval, and no one is available to approve it");
                Self::Deny { by: DenialSource::NoApprover, reason: Arc::from(reason) }
            }
        }
    }
}
