//! What the kernel holds back, as far as permissions depend on it: with a sandbox fewer commands
//! need approval, and without one that should be there all of them do.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::decision::DenialSource;
use super::hazardous_options::has_harmless_options;
use super::mode::PermissionMode;
use super::policy::{PermissionQuery, Permissions, RuleDecision};
use super::read_only::is_read_only;
use super::rule::PermissionRule;
use super::subject::{CallSubject, PathUse, PathZone, ShellCommand, SimpleCommand};

/// How the commands of a process are confined. It belongs to the process that runs them and is
/// never taken from another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandConfinement {
    /// Permissions decide as if there were no sandbox: it was switched off, or it lets commands
    /// reach the network.
    #[default]
    Disregarded,
    /// Commands are confined. Where edits are accepted, commands are too.
    Confined,
    /// Commands are confined and run without approval.
    AutoAllowed,
    /// There should be a sandbox, and this machine has none: every command needs approval.
    Missing,
}

impl CommandConfinement {
    /// Returns whether permissions do not depend on it.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    pub(super) fn is_disregarded(&self) -> bool {
        *self == Self::Disregarded
    }
}

/// Why a command needs approval where a sandbox is missing.
const NO_SANDBOX: &str = "no sandbox is available on this machine";

impl Permissions {
    /// Requires a human for every command where the sandbox is missing, whatever a rule allows.
    pub(super) fn require_confinement(&self, query: PermissionQuery<'_>) -> Option<RuleDecision> {
        let is_command = matches!(query.subject, CallSubject::Shell(_));
        if !is_command || self.confinement != CommandConfinement::Missing {
            return None;
        }
        Some(if self.mode == PermissionMode::DontAsk {
            let reason = format!("{NO_SANDBOX}, and the mode dontAsk asks no one");
            RuleDecision::Deny(DenialSource::Protected, Arc::from(reason))
        } else {
            RuleDecision::Ask(Arc::from(NO_SANDBOX))
        })
    }

    /// Allows a command that the sandbox confines, if it names no file outside that it would write.
    pub(super) fn check_confined(&self, query: PermissionQuery<'_>) -> Option<RuleDecision> {
        let CallSubject::Shell(shell) = query.subject else { return None };
        if self.only_reads_in_sandbox(shell) {
            return Some(RuleDecision::Allow(Arc::from("read-only command, in the sandbox")));
        }
        let by = self.confined_allowance()?;
        let is_inside = |used: &PathUse| used.zone == PathZone::Workspace;
        // What cannot be read completely names nothing for certain; the kernel holds it.
        let fits = !shell.unsupported.is_empty()
            || shell.writes.iter().chain(&shell.redirects).all(is_inside);
        fits.then(|| RuleDecision::Allow(Arc::from(by)))
    }

    /// Returns what allows confined commands to run without approval, if anything does. The kernel
    /// then protects what decides which programs run, except in a home folder that was added.
    pub(super) fn confined_allowance(&self) -> Option<&'static str> {
        let holds_home = |folder: &Arc<str>| is_at_or_beneath(&self.home, folder);
        if self.folders.iter().any(holds_home) {
            return None;
        }
        let accepts = self.mode == PermissionMode::AcceptEdits;
        match self.confinement {
            CommandConfinement::AutoAllowed => Some("sandbox.auto_allow"),
            CommandConfinement::Confined if accepts => Some("acceptEdits, in the sandbox"),
            CommandConfinement::Confined
            | CommandConfinement::Disregarded
            | CommandConfinement::Missing => None,
        }
    }

    /// Returns whether a command only reads the workspace, with git too: a program that the
    /// repository makes git run can neither write nor reach the network in the sandbox. Where a rule
    /// denies to read some file, its contents may be in the history.
    fn only_reads_in_sandbox(&self, shell: &ShellCommand) -> bool {
        let is_confined = matches!(
            self.confinement,
            CommandConfinement::Confined | CommandConfinement::AutoAllowed
        );
        let hides_files = |rule: &PermissionRule| !rule.is_unscoped() && rule.covers_tool("Read");
        is_confined
            && reads_in_sandbox(shell)
            && shell.reads.iter().all(|used| used.zone == PathZone::Workspace)
            && !self.disallowed.iter().chain(&self.deny).chain(&self.ask).any(hides_files)
    }
}

fn is_at_or_beneath(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder.trim_end_matches('/'));
    !path.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns whether a command only reads if programs that it does not name are confined.
#[must_use]
pub fn reads_in_sandbox(shell: &ShellCommand) -> bool {
    shell.unsupported.is_empty()
        && shell.writes.is_empty()
        && shell.redirects.is_empty()
        && !shell.commands.is_empty()
        && shell.commands.iter().all(|command| is_read_only(command) || is_reading_git(command))
}

/// Commands of git that change nothing, whatever follows them.
const READING_GIT: [&str; 9] =
    ["status", "log", "diff", "show", "blame", "shortlog", "describe", "rev-parse", "ls-files"];

fn is_reading_git(command: &SimpleCommand) -> bool {
    let mut words = command.words.iter().map(AsRef::as_ref);
    words.next() == Some("git")
        && words.next().is_some_and(|own| READING_GIT.contains(&own))
        && has_harmless_options(command)
}
