//! Changes of the permissions while a conversation goes on: by an answer to a question, or by a
//! command. They hold for the rest of the conversation.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::mode::PermissionMode;
use super::rule::PermissionRule;
use super::rule_list;

/// Maximum number of folders that may be added to a conversation.
pub const MAX_ADDED_FOLDERS: usize = 100;

/// A change of the permissions for the rest of a conversation. It concerns what was added in the
/// conversation: rules and folders of the settings stay.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionUpdate {
    /// Add rules.
    AddRules {
        /// What the rules do.
        behavior: RuleBehavior,
        /// The rules.
        #[serde(deserialize_with = "rule_list::deserialize_rules")]
        rules: Vec<PermissionRule>,
    },
    /// Replace every rule of this behaviour that was added in the conversation.
    ReplaceRules {
        /// What the rules do.
        behavior: RuleBehavior,
        /// The rules from now on.
        #[serde(deserialize_with = "rule_list::deserialize_rules")]
        rules: Vec<PermissionRule>,
    },
    /// Remove rules that were added in the conversation.
    RemoveRules {
        /// What the rules do.
        behavior: RuleBehavior,
        /// The rules.
        #[serde(deserialize_with = "rule_list::deserialize_rules")]
        rules: Vec<PermissionRule>,
    },
    /// Change the permission mode.
    SetMode {
        /// The mode from now on.
        mode: PermissionMode,
    },
    /// Let tools work in more folders.
    AddFolders {
        /// Absolute paths.
        folders: Vec<Arc<str>>,
    },
    /// Take back folders that were added in the conversation.
    RemoveFolders {
        /// Absolute paths.
        folders: Vec<Arc<str>>,
    },
}

/// What a rule does with the calls that it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleBehavior {
    /// They run without approval.
    Allow,
    /// They never run.
    Deny,
    /// They need the approval of a human.
    Ask,
}

/// Why a change of the permissions cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidUpdate {
    /// There would be too many rules or folders.
    TooMany,
    /// A folder is not an absolute path.
    RelativeFolder,
}
