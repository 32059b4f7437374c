//! Untrusted content in a conversation, and what it takes away (the "rule of two"): of private data,
//! untrusted content and effects outside, a conversation may have two without a person.
//!
//! No rule gives it back, because whoever wrote the rule did not know the content. The approval of a
//! person does, and so does a rule that a person grants afterwards.

use std::fmt;
use std::sync::Arc;

use imbl::Vector;
use serde::{Deserialize, Serialize};

use super::access::{AddedAccess, CommandAccess, access_of_rules};
use super::confinement::{CommandConfinement, reads_in_sandbox};
use super::decision::{DenialSource, HumanAvailability, PermissionDecision};
use super::grant::Grant;
use super::mode::PermissionMode;
use super::policy::{PermissionQuery, Permissions};
use super::rule::PermissionRule;
use super::rule_list::MAX_RULES;
use super::subject::{CallSubject, PathAccess, PathZone, ShellCommand, SimpleCommand};

/// Maximum sources that a conversation remembers; it counts as exposed whatever their number.
const MAX_SOURCES: usize = 50;

/// Maximum sources that a question names.
const MAX_NAMED: usize = 3;

/// What requires approval after untrusted content.
pub const ASKED_AFTER_UNTRUSTED: &str = "untrusted content";

/// Where content came from that others wrote.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentSource {
    /// A host of the web.
    Web(Arc<str>),
    /// An MCP server.
    Mcp(Arc<str>),
    /// A file or folder outside the workspace.
    File(Arc<str>),
    /// Another conversation that contains such content: a sub-agent, or its parent.
    Conversation(Arc<str>),
}

impl fmt::Display for ContentSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Web(host) => write!(f, "the web ({host})"),
            Self::Mcp(server) => write!(f, "the MCP server {server}"),
            Self::File(path) => write!(f, "outside the workspace ({path})"),
            Self::Conversation(lane) => write!(f, "the conversation {lane}"),
        }
    }
}

/// What a conversation has seen that limits what it may do without a person. Small, because every
/// conversation has one and few have seen anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ContentExposure(Arc<SeenContent>);

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct SeenContent {
    /// Where untrusted content came from, each source once.
    sources: Vector<ContentSource>,
    /// Whether anything was read that others should not get: files, output of commands, data of
    /// servers.
    has_private_data: bool,
    /// Rules that a person granted after the first untrusted content.
    grants: Vec<Grant>,
}

impl ContentExposure {
    /// Returns whether untrusted content is in the conversation.
    #[must_use]
    pub fn is_untrusted(&self) -> bool {
        !self.0.sources.is_empty()
    }

    /// Returns where untrusted content came from, in the order in which it came.
    pub fn sources(&self) -> impl Iterator<Item = &ContentSource> {
        self.0.sources.iter()
    }

    /// Adds a source of untrusted content.
    pub fn add_source(&mut self, source: &ContentSource) {
        if self.0.sources.len() < MAX_SOURCES && !self.0.sources.contains(source) {
            Arc::make_mut(&mut self.0).sources.push_back(source.clone());
        }
        // A page of the web is nobody's secret; the others may be.
        if !matches!(source, ContentSource::Web(_)) {
            self.note_private_data();
        }
    }

    /// Notes what a call about `subject` has read.
    pub(crate) fn note_read(&mut self, subject: &CallSubject) {
        let is_private = match subject {
            CallSubject::Shell(_) => true,
            CallSubject::Paths(paths) => paths.iter().any(|used| used.access == PathAccess::Read),
            CallSubject::Nothing | CallSubject::Domain(_) => false,
        };
        if is_private {
            self.note_private_data();
        }
    }

    fn note_private_data(&mut self) {
        if !self.0.has_private_data {
            Arc::make_mut(&mut self.0).has_private_data = true;
        }
    }

    /// Returns the rules that a person granted afterwards, of those that hold now.
    fn grants_in_force<'g>(&'g self, held: &'g [Grant]) -> impl Iterator<Item = &'g Grant> {
        self.0.grants.iter().filter(|grant| held.contains(grant))
    }

    /// Notes a rule that a person granted.
    pub(crate) fn note_grant(&mut self, grant: &Grant) {
        let is_new = !self.0.grants.contains(grant) && self.0.grants.len() < MAX_RULES;
        if self.is_untrusted() && is_new {
            Arc::make_mut(&mut self.0).grants.push(grant.clone());
        }
    }
}

impl Permissions {
    /// Returns the permission decision about a call in a conversation with this exposure: after
    /// untrusted content, a person decides about the network, pushes, and commands that use what
    /// decides which programs run.
    #[must_use]
    pub fn decide_exposed(
        &self,
        query: PermissionQuery<'_>,
        exposure: &ContentExposure,
    ) -> PermissionDecision {
        let decided = self.decide(query);
        let runs_without_person =
            matches!(decided, PermissionDecision::Allow { .. } | PermissionDecision::Classify {});
        match runs_without_person && self.needs_person(query, exposure) {
            true => self.ask_person(query, exposure),
            false => decided,
        }
    }

    fn ask_person(
        &self,
        query: PermissionQuery<'_>,
        exposure: &ContentExposure,
    ) -> PermissionDecision {
        let sources = exposure.sources().take(MAX_NAMED).map(ToString::to_string);
        let sources = sources.collect::<Vec<_>>().join(", ");
        let why = format!("the conversation contains untrusted content from {sources}");
        let by = match (self.mode, self.human) {
            (PermissionMode::DontAsk, _) => DenialSource::Protected,
            (_, HumanAvailability::Absent) => DenialSource::NoApprover,
            (_, HumanAvailability::Available | HumanAvailability::HooksOnly) => {
                let by = Arc::from(ASKED_AFTER_UNTRUSTED);
                return PermissionDecision::Ask { by, reason: Some(Arc::from(why)) };
            }
        };
        let reason = format!(
            "{} requires approval because {why}, and no one is available to approve it",
            query.tool
        );
        PermissionDecision::Deny { by, reason: Arc::from(reason) }
    }

    /// Returns whether a person has to decide about a call that rules allow.
    fn needs_person(&self, query: PermissionQuery<'_>, exposure: &ContentExposure) -> bool {
        if !exposure.is_untrusted() || self.mode == PermissionMode::BypassPermissions {
            return false;
        }
        let reaches = match query.subject {
            CallSubject::Domain(_) => exposure.0.has_private_data,
            CallSubject::Nothing => query.tool == WEB_SEARCH && exposure.0.has_private_data,
            CallSubject::Shell(shell) => self.command_needs_person(shell),
            CallSubject::Paths(_) => false,
        };
        reaches && !is_granted(query, exposure)
    }

    fn command_needs_person(&self, shell: &ShellCommand) -> bool {
        // What a person is asked to add, or has added, is decided as such.
        if !shell.added.is_empty() {
            return false;
        }
        let is_confined = match self.confinement {
            CommandConfinement::Confined | CommandConfinement::AutoAllowed => true,
            CommandConfinement::Disregarded | CommandConfinement::Missing => false,
        };
        let uses_protected = shell.reads.iter().any(|used| used.zone == PathZone::Protected);
        // Without a sandbox that holds back the network, any program may use it.
        uses_protected
            || shell.commands.iter().any(is_push)
            || (!is_confined && !reads_in_sandbox(shell))
    }
}

/// The tool that searches the web.
const WEB_SEARCH: &str = "WebSearch";

/// Returns whether a rule that a person granted after the content covers the call.
fn is_granted(query: PermissionQuery<'_>, exposure: &ContentExposure) -> bool {
    let mut rules = exposure
        .grants_in_force(query.grants)
        .filter(|grant| grant.holds_for(query.subject) && grant.rule.covers_tool(query.tool))
        .map(|grant| &grant.rule);
    let covers = |rule: &PermissionRule| match query.subject {
        CallSubject::Domain(host) => rule.covers_domain(host),
        CallSubject::Nothing => rule.is_unscoped(),
        CallSubject::Shell(shell) => {
            rule.is_unscoped()
                || (shell.unsupported.is_empty()
                    && shell.commands.iter().all(|command| rule.covers_command(command)))
        }
        CallSubject::Paths(_) => false,
    };
    rules.any(covers)
}

/// Returns whether a command sends commits to another repository.
fn is_push(command: &SimpleCommand) -> bool {
    let mut words = command.words.iter().map(AsRef::as_ref);
    let is_git = words.next().is_some_and(|name| name.rsplit('/').next() == Some("git"));
    is_git && words.any(|word| matches!(word, "push" | "send-pack" | "http-push" | "send-email"))
}

/// Returns what commands get beyond, or beneath, the policy of the sandbox.
#[must_use]
pub fn command_access(
    permissions: &Permissions,
    grants: &[Grant],
    exposure: &ContentExposure,
    subject: &CallSubject,
) -> CommandAccess {
    let withholds_hosts =
        exposure.is_untrusted() && permissions.mode != PermissionMode::BypassPermissions;
    let by_rules = permissions.access_by_rules(grants);
    let mut added = match withholds_hosts {
        // Paths stay: writing there sends nothing away.
        true => AddedAccess {
            hosts: access_of_rules(exposure.grants_in_force(grants).map(|grant| &grant.rule)).hosts,
            ..by_rules
        },
        false => by_rules,
    };
    if let Some(own) = subject.added_access() {
        added.extend(own);
    }
    CommandAccess { added, withholds_hosts }
}
