//! Permission rules, mode, and the order in which they are evaluated.
//!
//! Rules are for people; they see the assessed facts of a call and nothing else. A command that
//! cannot be parsed completely is never allowed by a rule.

mod access;
mod confinement;
pub mod decision;
pub mod glob;
mod grant;
mod harmless_git_options;
mod harmless_options;
mod hazardous_options;
mod inline_programs;
mod known_options;
pub mod mode;
pub mod policy;
mod program_mention;
pub mod read_only;
pub mod rule;
pub mod rule_list;
pub mod scope;
mod script_safety;
mod session_permissions;
pub mod subject;
pub mod suggest;
mod untrusted;
mod update;

#[cfg(test)]
mod confinement_tests;
#[cfg(test)]
mod decision_tests;
#[cfg(test)]
mod glob_tests;
#[cfg(test)]
mod mode_tests;
#[cfg(test)]
mod policy_tests;
#[cfg(test)]
mod read_only_tests;
#[cfg(test)]
mod rule_tests;
#[cfg(test)]
mod scope_tests;
#[cfg(test)]
mod session_permissions_tests;

pub use access::{ASKED_BY_SANDBOX, AddedAccess, CommandAccess};
pub use confinement::{CommandConfinement, reads_in_sandbox};
pub(crate) use decision::ASKED_BY_HOOK;
pub use decision::{
    DefaultDecision, DenialSource, HookPreference, HumanAvailability, PermissionDecision,
};
pub use grant::Grant;
pub use hazardous_options::has_harmless_options;
pub use inline_programs::{reads_programs, runs_no_arguments, shows_what_it_runs};
pub use mode::{BypassRefusedForRoot, PermissionMode, ProcessRights};
pub use policy::{CallEffect, PermissionQuery, Permissions, RuleDecision};
pub use read_only::{ReadDepth, ReadOnlyUse, is_read_only, read_only_use};
pub use rule::{InvalidRule, PermissionRule};
pub use rule_list::MAX_RULES;
pub use scope::RuleFolders;
pub use session_permissions::{ModeOverride, SessionPermissions};
pub use subject::{
    CallSubject, FileScan, ParseCoverage, PathAccess, PathUse, PathZone, ShellCommand,
    SimpleCommand,
};
pub use suggest::suggest_rule;

pub use untrusted::{ASKED_AFTER_UNTRUSTED, ContentExposure, ContentSource, command_access};
pub use update::{InvalidUpdate, MAX_ADDED_FOLDERS, PermissionUpdate, RuleBehavior};
