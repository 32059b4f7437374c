//! A rule that a person gave as an answer, and the folder it was given for.
//!
//! Such a rule repeats one command, and the same words can mean another file or another program in
//! another folder. So it holds where the person saw the command run, and nowhere else.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::rule::Rule;
use super::subject::Subject;

/// A rule that holds for the rest of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Grant {
    /// The rule.
    pub rule: Rule,
    /// The folder of the commands it is about, as `Shell::folder` has it.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub folder: Arc<str>,
}

impl Grant {
    /// The grant that this rule is as an answer to a call about `subject`.
    #[must_use]
    pub fn for_call(rule: Rule, subject: &Subject) -> Self {
        Self { rule, folder: subject.folder().clone() }
    }

    /// Whether it may speak of calls about `subject`.
    pub(super) fn holds_for(&self, subject: &Subject) -> bool {
        // A rule for every command, or for files, says nothing about folders.
        let is_for_commands = self.rule.names("Bash") && !self.rule.is_unscoped();
        !is_for_commands || self.folder == *subject.folder()
    }
}

impl From<Rule> for Grant {
    /// A rule that was given in the folder of the workspace.
    fn from(rule: Rule) -> Self {
        Self { rule, folder: Arc::default() }
    }
}
