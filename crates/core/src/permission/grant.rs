//! A rule that a human granted in an answer, and the folder it was granted for.
//!
//! Such a rule repeats one command, and the same words can mean another file or another program in
//! another folder. So it applies where the human saw the command run, and nowhere else.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::rule::PermissionRule;
use super::subject::CallSubject;

/// A rule that is granted for the rest of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Grant {
    /// The rule.
    pub rule: PermissionRule,
    /// The folder of the commands it is about, as in [`CallSubject::folder`].
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub folder: Arc<str>,
}

impl Grant {
    /// Returns the grant of this rule as an answer to a call about `subject`.
    #[must_use]
    pub fn for_call(rule: PermissionRule, subject: &CallSubject) -> Self {
        Self { rule, folder: subject.folder().clone() }
    }

    /// Returns whether the grant can apply to calls about `subject`.
    pub(super) fn holds_for(&self, subject: &CallSubject) -> bool {
        // A rule for every command, or for files, does not depend on the folder.
        let is_for_commands = self.rule.covers_tool("Bash") && !self.rule.is_unscoped();
        !is_for_commands || self.folder == *subject.folder()
    }
}

impl From<PermissionRule> for Grant {
    /// Converts a rule that was granted in the workspace folder.
    fn from(rule: PermissionRule) -> Self {
        Self { rule, folder: Arc::default() }
    }
}
