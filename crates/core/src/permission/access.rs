//! Access that confined commands get beyond the policy of the sandbox, because a person gave it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::decision::DenialSource;
use super::grant::Grant;
use super::mode::PermissionMode;
use super::policy::{PermissionQuery, Permissions, RuleDecision};
use super::rule::PermissionRule;
use super::subject::{CallSubject, ShellCommand};

/// Maximum hosts and paths that one command can be given.
const MAX_ADDED: usize = 8;

/// Hosts and paths beyond the policy of the sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AddedAccess {
    /// Hosts that the command may reach, each a name and a port: `example.org:443`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<Arc<str>>,
    /// Files and folders that the command may write, as absolute paths with links resolved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<Arc<str>>,
}

impl AddedAccess {
    /// Returns whether nothing is added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty() && self.write.is_empty()
    }

    /// Adds what `more` has.
    pub fn extend(&mut self, more: &Self) {
        for (own, added) in [(&mut self.hosts, &more.hosts), (&mut self.write, &more.write)] {
            for entry in added {
                if !own.contains(entry) {
                    own.push(entry.clone());
                }
            }
        }
    }

    /// Returns what this has and `other` has not.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        let left = |own: &[Arc<str>], other: &[Arc<str>]| {
            own.iter().filter(|entry| !other.contains(entry)).cloned().collect()
        };
        Self { hosts: left(&self.hosts, &other.hosts), write: left(&self.write, &other.write) }
    }

    /// Returns the rules that would add the same to every command; each names one host or path.
    #[must_use]
    pub fn rules(&self) -> Vec<PermissionRule> {
        let hosts = self.hosts.iter().map(|host| format!("Sandbox(host:{host})"));
        let paths = self.write.iter().map(|path| format!("Sandbox(write:{path})"));
        hosts.chain(paths).filter_map(|text| PermissionRule::parse(&text).ok()).collect()
    }

    /// Returns each part in words: `the host example.org:443`, `writing to /srv/data`.
    pub fn descriptions(&self) -> impl Iterator<Item = String> {
        let hosts = self.hosts.iter().map(|host| format!("the host {host}"));
        hosts.chain(self.write.iter().map(|path| format!("writing to {path}")))
    }

    fn is_within_limit(&self) -> bool {
        self.hosts.len().saturating_add(self.write.len()) <= MAX_ADDED
    }
}

/// What a command gets beyond, or beneath, the policy of the sandbox when it is started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandAccess {
    /// What a person gave it.
    pub added: AddedAccess,
    /// Whether the hosts of the configuration are withheld from it, because the conversation
    /// contains untrusted content.
    pub withholds_hosts: bool,
}

impl CallSubject {
    /// Returns what a person is asked to give the command, or has given it.
    #[must_use]
    pub fn added_access(&self) -> Option<&AddedAccess> {
        match self {
            Self::Shell(shell) => Some(&shell.added).filter(|added| !added.is_empty()),
            Self::Nothing | Self::Paths(_) | Self::Domain(_) => None,
        }
    }

    /// Returns this command with `more` access; `None` for other subjects, and where that would add
    /// nothing or too much.
    #[must_use]
    pub fn with_added_access(&self, more: &AddedAccess) -> Option<Self> {
        let Self::Shell(shell) = self else { return None };
        let new = more.without(&shell.added);
        let mut added = shell.added.clone();
        added.extend(&new);
        (!new.is_empty() && added.is_within_limit())
            .then(|| ShellCommand { added, ..(**shell).clone() }.into())
    }
}

impl Permissions {
    /// Decides about a command that the sandbox kept from something and that would run again with
    /// exactly that added. The command itself was decided before.
    pub(super) fn check_added_access(&self, query: PermissionQuery<'_>) -> Option<RuleDecision> {
        let added = query.subject.added_access()?;
        let is_given = |rule: &PermissionRule| {
            let granted = query.grants.iter().map(|grant| &grant.rule);
            self.allow.iter().chain(granted).any(|given| given == rule)
        };
        let rules = added.rules();
        if rules.len() == added.hosts.len() + added.write.len() && rules.iter().all(is_given) {
            return Some(RuleDecision::Allow(Arc::from("every addition is covered by a rule")));
        }
        Some(match self.mode {
            PermissionMode::DontAsk => RuleDecision::Deny(
                DenialSource::NoRule,
                Arc::from("the sandbox does not allow it, and the mode dontAsk asks no one"),
            ),
            PermissionMode::Default
            | PermissionMode::AcceptEdits
            | PermissionMode::Plan
            | PermissionMode::PlanNone
            | PermissionMode::Auto
            | PermissionMode::BypassPermissions => RuleDecision::Ask(Arc::from(ASKED_BY_SANDBOX)),
        })
    }

    /// Returns what rules and `grants` give every command.
    #[must_use]
    pub fn access_by_rules(&self, grants: &[Grant]) -> AddedAccess {
        access_of_rules(self.allow.iter().chain(grants.iter().map(|grant| &grant.rule)))
    }
}

/// Returns what these rules give commands.
pub(super) fn access_of_rules<'r>(rules: impl Iterator<Item = &'r PermissionRule>) -> AddedAccess {
    let mut access = AddedAccess::default();
    for rule in rules {
        access.hosts.extend(rule.reachable_host().cloned());
        access.write.extend(rule.writable_path().cloned());
    }
    access
}

/// What requires approval if the sandbox kept a command from something.
pub const ASKED_BY_SANDBOX: &str = "sandbox";
