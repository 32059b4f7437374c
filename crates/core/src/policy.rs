//! Who may run what. Rules name a tool; deny beats ask, ask beats allow, and what no rule names
//! falls to the default.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The rules of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {
    /// Never.
    pub deny: Vec<Arc<str>>,
    /// Only after a human said yes.
    pub ask: Vec<Arc<str>>,
    /// Without asking.
    pub allow: Vec<Arc<str>>,
    /// What happens to a call no rule names.
    pub otherwise: Otherwise,
    /// Whether there is anybody to ask.
    pub human: Human,
}

/// The fate of a call that no rule names.
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
    /// It does not run.
    Deny {
        /// Why, for the model.
        reason: Arc<str>,
    },
}

impl Rules {
    /// Everything runs. For tests and for people who mean it.
    #[must_use]
    pub fn allow_all() -> Self {
        Self { otherwise: Otherwise::Allow, ..Self::default() }
    }

    /// Judges a call of `tool`.
    #[must_use]
    pub fn judge(&self, tool: &str) -> Verdict {
        if let Some(rule) = first_match(&self.deny, tool) {
            return deny(&format!("{tool} is denied by the rule {rule}"));
        }
        if let Some(rule) = first_match(&self.ask, tool) {
            return self.ask(tool, rule);
        }
        if let Some(rule) = first_match(&self.allow, tool) {
            return Verdict::Allow { by: rule.clone() };
        }
        match self.otherwise {
            Otherwise::Ask => self.ask(tool, &Arc::from("default")),
            Otherwise::Allow => Verdict::Allow { by: Arc::from("default") },
            Otherwise::Deny => deny(&format!("no rule allows {tool}")),
        }
    }

    fn ask(&self, tool: &str, rule: &Arc<str>) -> Verdict {
        match self.human {
            Human::Reachable => Verdict::Ask { by: rule.clone() },
            Human::Absent => deny(&format!("{tool} needs leave and nobody is there to give it")),
        }
    }
}

fn deny(reason: &str) -> Verdict {
    Verdict::Deny { reason: Arc::from(reason) }
}

fn first_match<'a>(rules: &'a [Arc<str>], tool: &str) -> Option<&'a Arc<str>> {
    rules.iter().find(|rule| matches(rule, tool))
}

/// A rule is a tool name; a trailing `*` stands for any ending.
fn matches(rule: &str, tool: &str) -> bool {
    match rule.strip_suffix('*') {
        Some(start) => tool.starts_with(start),
        None => rule == tool,
    }
}
