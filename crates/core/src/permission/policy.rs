//! Evaluation order of permissions: deny, ask, mode, allow, read-only check, classifier, human. A
//! hook is asked before; its "allow" never overrides deny or ask.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::confinement::CommandConfinement;
use super::decision::{
    ASKED_BY_HOOK, DefaultDecision, DenialSource, HookPreference, HumanAvailability,
    PermissionDecision,
};
use super::grant::Grant;
use super::inline_programs::shows_what_it_runs;
use super::mode::PermissionMode;
use super::read_only::{is_bare_wrapper, is_read_only};
use super::rule::PermissionRule;
use super::rule_list;
use super::scope::RuleFolders;
use super::subject::{
    CallSubject, ParseCoverage, PathAccess, PathUse, PathZone, ShellCommand, SimpleCommand,
};

/// The permissions of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Permissions {
    /// Tools that are blocked whatever else applies.
    #[serde(deserialize_with = "rule_list::deserialize_rules")]
    pub disallowed: Vec<PermissionRule>,
    /// Deny rules: matching calls never run.
    #[serde(deserialize_with = "rule_list::deserialize_rules")]
    pub deny: Vec<PermissionRule>,
    /// Ask rules: matching calls need the approval of a human.
    #[serde(deserialize_with = "rule_list::deserialize_rules")]
    pub ask: Vec<PermissionRule>,
    /// Allow rules: matching calls run without approval.
    #[serde(deserialize_with = "rule_list::deserialize_rules")]
    pub allow: Vec<PermissionRule>,
    /// The permission mode.
    pub mode: PermissionMode,
    /// The folder that path rules are relative to, links resolved.
    pub root: Arc<str>,
    /// The home folder, for rules that start with `~/`.
    pub home: Arc<str>,
    /// What happens to a call that no rule matches.
    pub default_decision: DefaultDecision,
    /// Whether a human is available.
    pub human: HumanAvailability,
    /// Folders that were added to the workspace while the conversation went on, as absolute paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<Arc<str>>,
    /// How commands are confined.
    #[serde(skip_serializing_if = "CommandConfinement::is_disregarded")]
    pub confinement: CommandConfinement,
}

/// A call as the rules see it.
#[derive(Debug, Clone, Copy)]
pub struct PermissionQuery<'a> {
    /// Name of the tool.
    pub tool: &'a str,
    /// Subject of the call.
    pub subject: &'a CallSubject,
    /// Whether the call is read-only.
    pub effect: CallEffect,
    /// Preference of a hook.
    pub preference: HookPreference,
    /// Rules that were granted in this conversation.
    pub grants: &'a [Grant],
}

/// Whether a call changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEffect {
    /// Read-only according to a trusted tool; a server's own hint does not count.
    ReadOnly,
    /// Nothing by itself: it starts sub-agents, whose calls are decided one by one. Rules that
    /// restrict `Agent` concern it, whatever the tool is called.
    StartsAgents,
    /// The call may change something.
    MayChange,
}

/// The tool by which rules name the start of a sub-agent.
const AGENT: &str = "Agent";

/// The decision of the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleDecision {
    /// The call runs.
    Allow(Arc<str>),
    /// A human decides, whatever a hook returned.
    Ask(Arc<str>),
    /// No rule matches: hook, classifier or human decide.
    Undecided,
    /// The call does not run.
    Deny(DenialSource, Arc<str>),
}

impl Permissions {
    /// Returns permissions that allow everything. For tests, and for users who want this.
    #[must_use]
    pub fn allow_all() -> Self {
        Self { default_decision: DefaultDecision::Allow, ..Self::default() }
    }

    /// Returns the permission decision about a call: that of the rules, and where none matches that
    /// of the hook, the classifier, or a human.
    #[must_use]
    pub fn decide(&self, query: PermissionQuery<'_>) -> PermissionDecision {
        let by_default = || Arc::from("default");
        match (self.evaluate_rules(query), query.preference) {
            (RuleDecision::Deny(by, reason), _) => PermissionDecision::Deny { by, reason },
            (RuleDecision::Ask(by), _) => {
                PermissionDecision::ask_or_deny(query.tool, by, self.human)
                    .with_blocked_access(query.subject)
            }
            (_, HookPreference::Ask) => {
                PermissionDecision::ask_or_deny(query.tool, Arc::from(ASKED_BY_HOOK), self.human)
            }
            (RuleDecision::Allow(by), _) => PermissionDecision::Allow { by },
            (RuleDecision::Undecided, HookPreference::Allow) => {
                PermissionDecision::Allow { by: Arc::from("hook") }
            }
            (RuleDecision::Undecided, HookPreference::Neutral) => {
                match (self.mode, self.default_decision) {
                    (PermissionMode::Auto, _) => PermissionDecision::Classify {},
                    (_, DefaultDecision::Ask) => {
                        PermissionDecision::ask_or_deny(query.tool, by_default(), self.human)
                    }
                    (_, DefaultDecision::Allow) => PermissionDecision::Allow { by: by_default() },
                    (_, DefaultDecision::Deny) => PermissionDecision::Deny {
                        by: DenialSource::NoRule,
                        reason: Arc::from(format!("no permission rule allows {}", query.tool)),
                    },
                }
            }
        }
    }

    /// Returns the decision of the rules about a call.
    #[must_use]
    pub fn evaluate_rules(&self, query: PermissionQuery<'_>) -> RuleDecision {
        let is_denied = |decision: &RuleDecision| matches!(decision, RuleDecision::Deny(..));
        self.check_deny_and_ask(query)
            .or_else(|| self.check_mode(query).filter(is_denied))
            .or_else(|| self.require_confinement(query))
            .or_else(|| self.check_added_access(query))
            .or_else(|| self.check_mode(query))
            .or_else(|| self.require_human(query))
            .or_else(|| self.check_allow(query))
            .or_else(|| check_read_only(query))
            .or_else(|| self.check_confined(query))
            .unwrap_or_else(|| self.undecided_by_mode(query))
    }

    /// Returns why a call may not run even if a human approves it: a deny rule, a protected path, or
    /// the mode.
    #[must_use]
    pub fn find_denial(&self, query: PermissionQuery<'_>) -> Option<(DenialSource, Arc<str>)> {
        let denial = |decision: RuleDecision| match decision {
            RuleDecision::Deny(by, reason) => Some((by, reason)),
            RuleDecision::Allow(_) | RuleDecision::Ask(_) | RuleDecision::Undecided => None,
        };
        let by_rules = self.check_deny_and_ask(query).and_then(denial);
        by_rules.or_else(|| self.check_mode(query).and_then(denial))
    }

    /// Evaluates deny and ask rules: a match of any part of the call is enough.
    fn check_deny_and_ask(&self, query: PermissionQuery<'_>) -> Option<RuleDecision> {
        if let Some(rule) = self
            .find_matching_rule(&self.disallowed, query)
            .or_else(|| self.find_matching_rule(&self.deny, query))
        {
            return deny_because(DenialSource::Rule, &format!("the rule {rule} denies it"));
        }
        if let Some(path) = protected_write_path(query.subject) {
            return deny_because(
                DenialSource::Protected,
                &format!("{path} controls what may run; tools may not change it"),
            );
        }
        // A deny rule may not have seen the part it is about.
        if is_partly_parsed(query.subject) {
            return deny_because(
                DenialSource::Protected,
                "the command is too large to check; split it into smaller commands",
            );
        }
        self.find_matching_rule(&self.ask, query).map(RuleDecision::Ask)
    }

    /// Requires a human for a call that may concern something restricted: no rule, hook or
    /// classifier can allow it.
    fn require_human(&self, query: PermissionQuery<'_>) -> Option<RuleDecision> {
        let CallSubject::Shell(shell) = query.subject else { return None };
        let reason = match () {
            () if self.confined_allowance().is_none() && self.reads_protected(shell, query) => {
                "it may change what decides which programs run"
            }
            () if self.may_be_restricted(shell, query) => {
                "it may use something that a rule restricts"
            }
            () => return None,
        };
        Some(match self.mode {
            PermissionMode::DontAsk => RuleDecision::Deny(
                DenialSource::Protected,
                Arc::from(format!("{reason}, and the mode dontAsk asks no one")),
            ),
            PermissionMode::Default
            | PermissionMode::AcceptEdits
            | PermissionMode::Plan
            | PermissionMode::PlanNone
            | PermissionMode::Auto
            | PermissionMode::BypassPermissions => RuleDecision::Ask(Arc::from(reason)),
        })
    }

    fn find_matching_rule(
        &self,
        rules: &[PermissionRule],
        query: PermissionQuery<'_>,
    ) -> Option<Arc<str>> {
        let starts_agents = query.effect == CallEffect::StartsAgents;
        let names = [Some(query.tool), starts_agents.then_some(AGENT)];
        let concerns = |rule: &&PermissionRule, name: &str| {
            rule.may_concern(name, query.subject, self.rule_folders())
        };
        rules
            .iter()
            .find(|rule| names.iter().flatten().any(|name| concerns(rule, name)))
            .map(|rule| rule.text().clone())
    }

    fn check_mode(&self, query: PermissionQuery<'_>) -> Option<RuleDecision> {
        match self.mode {
            PermissionMode::PlanNone => {
                deny_because(DenialSource::Mode, "permission mode plan:none: no tool may run")
            }
            PermissionMode::Plan if !is_read_only_call(query) => {
                deny_because(DenialSource::Mode, "permission mode plan: nothing may be changed")
            }
            PermissionMode::AcceptEdits if is_workspace_edit(query.subject) => {
                allow_because("acceptEdits")
            }
            PermissionMode::BypassPermissions => allow_because("bypassPermissions"),
            PermissionMode::Default
            | PermissionMode::AcceptEdits
            | PermissionMode::Plan
            | PermissionMode::DontAsk
            | PermissionMode::Auto => None,
        }
    }

    /// Evaluates allow rules: every part of the call must be covered.
    fn check_allow(&self, query: PermissionQuery<'_>) -> Option<RuleDecision> {
        let mut rules = self.allow_rules(query).filter(|rule| rule.covers_tool(query.tool));
        let by = |rule: &PermissionRule| RuleDecision::Allow(rule.text().clone());
        match query.subject {
            CallSubject::Shell(shell) => self.allow_shell(shell, query),
            CallSubject::Nothing => rules.find(|rule| rule.is_unscoped()).map(by),
            CallSubject::Domain(host) => rules.find(|rule| rule.covers_domain(host)).map(by),
            CallSubject::Paths(paths) => self.allow_paths(paths, query),
        }
    }

    fn allow_paths(&self, paths: &[PathUse], query: PermissionQuery<'_>) -> Option<RuleDecision> {
        let covers = |rule: &PermissionRule, used: &PathUse| {
            rule.covers_tool(query.tool) && rule.covers_path(used, self.rule_folders())
        };
        let covered = |used: &PathUse| self.allow_rules(query).any(|rule| covers(rule, used));
        let all = !paths.is_empty() && paths.iter().all(covered);
        all.then(|| RuleDecision::Allow(Arc::from("every path is covered by an allow rule")))
    }

    fn allow_shell(
        &self,
        shell: &ShellCommand,
        query: PermissionQuery<'_>,
    ) -> Option<RuleDecision> {
        if let Some(rule) = self.unscoped_allow_rule(query) {
            return Some(RuleDecision::Allow(rule));
        }
        let is_clear = shell.unsupported.is_empty()
            && !shell.commands.is_empty()
            && all_in_workspace(&shell.writes)
            && shell.redirects.iter().all(|used| self.is_edit_allowed(used, query));
        if !is_clear {
            return None;
        }
        let covered = |command: &SimpleCommand| {
            self.is_command_allowed(command, query)
                || is_bare_wrapper(command)
                || self.is_harmless_command(command, shell)
        };
        let all = shell.commands.iter().all(covered);
        all.then(|| {
            RuleDecision::Allow(Arc::from("every part of the command is covered by an allow rule"))
        })
    }

    /// Returns an allow rule without a specifier: it allows every command.
    fn unscoped_allow_rule(&self, query: PermissionQuery<'_>) -> Option<Arc<str>> {
        let is_whole = |rule: &&PermissionRule| rule.is_unscoped() && rule.covers_tool(query.tool);
        self.allow_rules(query).find(is_whole).map(|rule| rule.text().clone())
    }

    /// Returns whether a deny or ask rule may concern something that the command does not show.
    /// Where there is such a rule, a command must be fully understood first.
    fn may_be_restricted(&self, shell: &ShellCommand, query: PermissionQuery<'_>) -> bool {
        let shows_all = shows_everything_it_runs(shell);
        let may_touch = |rule: &PermissionRule| {
            (!shows_all && rule.can_concern_commands(query.tool))
                || rule.may_concern_hidden_part(query.tool, shell, self.rule_folders())
        };
        let mut rules = self.disallowed.iter().chain(&self.deny).chain(&self.ask);
        rules.any(|rule| !rule.is_unscoped() && may_touch(rule))
    }

    /// Returns whether a command that may write names a protected path, which decides what may run.
    /// No rule covers that, except one that spells out a file of a skill: its scripts are there to
    /// be run.
    fn reads_protected(&self, shell: &ShellCommand, query: PermissionQuery<'_>) -> bool {
        let is_named = |used: &PathUse| {
            is_in_skills(&used.path)
                && self.allow_rules(query).any(|rule| {
                    rule.covers_tool(query.tool) && rule.spells_out(&used.path, &self.root)
                })
        };
        let mut protected = shell.reads.iter().filter(|used| used.zone == PathZone::Protected);
        protected.any(|used| !is_named(used))
    }

    /// Returns whether the file that a redirection writes to could be edited without approval.
    fn is_edit_allowed(&self, used: &PathUse, query: PermissionQuery<'_>) -> bool {
        let is_accepted =
            self.mode == PermissionMode::AcceptEdits && used.zone == PathZone::Workspace;
        let covers = |rule: &PermissionRule| {
            rule.is_about_edits() && rule.covers_path(used, self.rule_folders())
        };
        is_accepted || self.allow_rules(query).any(covers)
    }

    fn is_command_allowed(&self, command: &SimpleCommand, query: PermissionQuery<'_>) -> bool {
        self.allow_rules(query)
            .any(|rule| rule.covers_tool(query.tool) && rule.covers_command(command))
    }

    /// Returns the allow rules: those of the settings and those granted in the conversation.
    fn allow_rules<'a>(
        &'a self,
        query: PermissionQuery<'a>,
    ) -> impl Iterator<Item = &'a PermissionRule> {
        let given = query.grants.iter().filter(move |grant| grant.holds_for(query.subject));
        self.allow.iter().chain(given.map(|grant| &grant.rule))
    }

    /// Returns whether the command is harmless: reading is, within the workspace; where edits are
    /// accepted, so is arranging files.
    fn is_harmless_command(&self, command: &SimpleCommand, shell: &ShellCommand) -> bool {
        let accepts = self.mode == PermissionMode::AcceptEdits;
        all_in_workspace(&shell.reads)
            && ((accepts && arranges_files(command)) || is_read_only(command))
    }

    fn undecided_by_mode(&self, query: PermissionQuery<'_>) -> RuleDecision {
        match self.mode {
            PermissionMode::DontAsk => {
                let reason = format!(
                    "no permission rule allows this call of {}, and the mode dontAsk asks no one",
                    query.tool
                );
                RuleDecision::Deny(DenialSource::NoRule, Arc::from(reason))
            }
            PermissionMode::Default
            | PermissionMode::AcceptEdits
            | PermissionMode::Plan
            | PermissionMode::PlanNone
            | PermissionMode::Auto
            | PermissionMode::BypassPermissions => RuleDecision::Undecided,
        }
    }

    fn rule_folders(&self) -> RuleFolders<'_> {
        RuleFolders { root: &self.root, home: &self.home }
    }
}

fn allow_because(reason: &str) -> Option<RuleDecision> {
    Some(RuleDecision::Allow(Arc::from(reason)))
}

fn deny_because(by: DenialSource, reason: &str) -> Option<RuleDecision> {
    Some(RuleDecision::Deny(by, Arc::from(reason)))
}

/// The read-only check: a read-only call that reads nothing outside the workspace needs no rule.
fn check_read_only(query: PermissionQuery<'_>) -> Option<RuleDecision> {
    let is_inside = match query.subject {
        CallSubject::Nothing => true,
        CallSubject::Paths(paths) => !paths.is_empty() && all_in_workspace(paths),
        // A request to a host sends it information, and commands have been decided by now.
        CallSubject::Domain(_) | CallSubject::Shell(_) => false,
    };
    (is_inside && is_read_only_call(query))
        .then(|| RuleDecision::Allow(Arc::from("read-only call")))
}

/// Returns whether the call is read-only. A command is decided by its parts, whatever the tool
/// states.
fn is_read_only_call(query: PermissionQuery<'_>) -> bool {
    let is_read = |used: &PathUse| used.access == PathAccess::Read;
    match query.subject {
        CallSubject::Shell(shell) => {
            shell.unsupported.is_empty()
                && shell.writes.is_empty()
                && shell.redirects.is_empty()
                && !shell.commands.is_empty()
                && shell
                    .commands
                    .iter()
                    .all(|command| is_read_only(command) || is_bare_wrapper(command))
        }
        CallSubject::Paths(paths) => {
            query.effect != CallEffect::MayChange && paths.iter().all(is_read)
        }
        CallSubject::Nothing | CallSubject::Domain(_) => query.effect != CallEffect::MayChange,
    }
}

fn is_partly_parsed(subject: &CallSubject) -> bool {
    matches!(subject, CallSubject::Shell(shell) if shell.coverage == ParseCoverage::Partial)
}

fn all_in_workspace(paths: &[PathUse]) -> bool {
    paths.iter().all(|used| used.zone == PathZone::Workspace)
}

fn protected_write_path(subject: &CallSubject) -> Option<&Arc<str>> {
    let (writes, more): (&[PathUse], &[PathUse]) = match subject {
        CallSubject::Paths(paths) => (paths, &[]),
        CallSubject::Shell(shell) => (&shell.writes, &shell.redirects),
        CallSubject::Nothing | CallSubject::Domain(_) => (&[], &[]),
    };
    let is_protected =
        |p: &&PathUse| p.access == PathAccess::Write && p.zone == PathZone::Protected;
    writes.iter().chain(more).find(is_protected).map(|used| &used.path)
}

/// Returns whether a path is one of a skill: in `skills` of a settings folder.
fn is_in_skills(path: &str) -> bool {
    let mut parts = path.split('/').skip_while(|part| *part != ".claude").skip(1);
    parts.next() == Some("skills") && !path.split('/').any(|part| part == "..")
}

/// Returns whether the words of the command show what it runs and uses, as far as they can.
fn shows_everything_it_runs(shell: &ShellCommand) -> bool {
    shell.unsupported.is_empty()
        && shell.hidden.is_empty()
        && shell.commands.iter().all(shows_what_it_runs)
}

/// Returns whether the call is a file edit within the workspace.
fn is_workspace_edit(subject: &CallSubject) -> bool {
    matches!(subject, CallSubject::Paths(paths) if !paths.is_empty() && all_in_workspace(paths))
}

/// Returns whether the command is one of the four that arrange files.
fn arranges_files(command: &SimpleCommand) -> bool {
    matches!(command.name(), "mkdir" | "touch" | "mv" | "cp")
}
