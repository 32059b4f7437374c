//! Permission rules as people write them: `Tool`, `Tool(specifier)`.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::glob;
use super::scope::{MatchMode, RuleFolders, RuleScope, SANDBOX};
use super::subject::{CallSubject, FileScan, PathAccess, PathUse, ShellCommand, SimpleCommand};

/// Maximum characters of a rule.
pub const MAX_RULE_CHARS: usize = 2_000;

/// A permission rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Arc<str>", into = "Arc<str>")]
pub struct PermissionRule {
    text: Arc<str>,
    tool: Arc<str>,
    scope: RuleScope,
}

/// Why a rule is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the rule {rule:?} cannot be read: {problem}; write for example `Read`, `Bash(npm test:*)` \
     or `Edit(src/**)`"
)]
pub struct InvalidRule {
    rule: String,
    problem: &'static str,
}

impl PermissionRule {
    /// Parses a rule.
    pub fn parse(text: &str) -> Result<Self, InvalidRule> {
        let bad = |problem| InvalidRule { rule: text.chars().take(80).collect(), problem };
        let trimmed = text.trim();
        // Counting stops at the limit, however long the text.
        if trimmed.chars().nth(MAX_RULE_CHARS).is_some() {
            return Err(bad("it is too long"));
        }
        if trimmed.chars().any(char::is_control) {
            return Err(bad("it contains a control character"));
        }
        let (tool, specifier) = split_rule(trimmed).map_err(bad)?;
        let scope = match specifier {
            Some(inside) => RuleScope::parse(tool, inside.trim()).map_err(bad)?,
            None if tool == SANDBOX => {
                return Err(bad("it does not say which host or path"));
            }
            None => RuleScope::Every,
        };
        Ok(Self { text: Arc::from(trimmed), tool: Arc::from(tool), scope })
    }

    /// Returns whether the rule is about this tool at all.
    #[must_use]
    pub fn covers_tool(&self, tool: &str) -> bool {
        glob::matches_name(&self.tool, tool)
            || is_same_tool_family(&self.tool, tool)
            || is_tool_of_server(&self.tool, tool)
    }

    /// Returns whether the rule covers every call of the tool.
    #[must_use]
    pub fn is_unscoped(&self) -> bool {
        self.scope == RuleScope::Every
    }

    /// Returns whether the rule clearly covers this one command.
    #[must_use]
    pub fn covers_command(&self, command: &SimpleCommand) -> bool {
        self.scope.covers_command(command, MatchMode::Strict)
    }

    /// Returns whether a command rule has this path among its words, absolute or from `root`.
    #[must_use]
    pub(super) fn spells_out(&self, path: &str, root: &str) -> bool {
        let below = path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
        let is_path = |word: &Arc<str>| {
            let word = word.strip_prefix("./").unwrap_or(word);
            word == path.strip_prefix("./").unwrap_or(path) || Some(word) == below
        };
        matches!(&self.scope, RuleScope::Command(words) if words.iter().any(is_path))
    }

    /// Returns whether the rule covers this path. Rules for reading do not cover writing; a rule
    /// for edits also covers what the edit reads.
    #[must_use]
    pub fn covers_path(&self, used: &PathUse, places: RuleFolders<'_>) -> bool {
        let fits_access = used.access == PathAccess::Read || &*self.tool != "Read";
        fits_access && self.scope.covers_path(used, places, MatchMode::Strict)
    }

    /// Returns whether the rule covers this host.
    #[must_use]
    pub fn covers_domain(&self, host: &str) -> bool {
        self.scope.covers_host(host, MatchMode::Strict)
    }

    /// Returns whether the rule may concern any part of this call: how deny and ask rules are
    /// matched.
    #[must_use]
    pub fn may_concern(&self, tool: &str, subject: &CallSubject, places: RuleFolders<'_>) -> bool {
        let direct = self.covers_tool(tool) && self.concerns_subject(subject, places);
        match subject {
            CallSubject::Shell(shell) => direct || self.concerns_files_of(shell, places),
            CallSubject::Nothing | CallSubject::Paths(_) | CallSubject::Domain(_) => direct,
        }
    }

    fn concerns_subject(&self, subject: &CallSubject, places: RuleFolders<'_>) -> bool {
        let has_path = |used| self.scope.covers_path(used, places, MatchMode::Broad);
        let has_command = |command| self.scope.covers_command(command, MatchMode::Broad);
        self.is_unscoped()
            || match subject {
                CallSubject::Nothing => false,
                CallSubject::Paths(paths) => paths.iter().any(has_path),
                CallSubject::Domain(host) => self.scope.covers_host(host, MatchMode::Broad),
                CallSubject::Shell(shell) => {
                    shell.commands.iter().chain(&shell.other_names).any(has_command)
                }
            }
    }

    /// Returns whether the rule concerns files that the command uses: a file that may not be read
    /// must not be read by a command either.
    fn concerns_files_of(&self, shell: &ShellCommand, places: RuleFolders<'_>) -> bool {
        let has_path = |used| self.scope.covers_path(used, places, MatchMode::Broad);
        let (files, more): (&[PathUse], &[PathUse]) = match (self.is_unscoped(), &*self.tool) {
            (false, "Read") => (&shell.reads, &[]),
            (false, "Edit" | "Write") => (&shell.writes, &shell.redirects),
            // A redirection is an edit; other writes belong to the command.
            (true, "Edit" | "Write") => (&[], &shell.redirects),
            _ => (&[], &[]),
        };
        files.iter().chain(more).any(has_path)
    }

    /// Returns whether the rule may concern a part that the command does not show: a file among
    /// many, or a program that one of its words names.
    #[must_use]
    pub(super) fn may_concern_hidden_part(
        &self,
        tool: &str,
        shell: &ShellCommand,
        places: RuleFolders<'_>,
    ) -> bool {
        let is_about = |access: PathAccess| match &*self.tool {
            "Read" => access == PathAccess::Read,
            "Edit" | "Write" => access == PathAccess::Write,
            _ => false,
        };
        let scanned = |scan: &FileScan| {
            is_about(scan.access) && self.scope.may_be_scanned(&scan.path, places)
        };
        let used = |used: &PathUse| {
            is_about(used.access) && self.scope.covers_path(used, places, MatchMode::Broad)
        };
        let mentioned = |command: &SimpleCommand| self.scope.may_be_run_by(command);
        shell.scans.iter().any(scanned)
            || shell.may_use.iter().any(used)
            || (self.covers_tool(tool) && shell.commands.iter().any(mentioned))
    }

    /// Returns the host and port that the rule lets commands reach.
    #[must_use]
    pub(super) fn reachable_host(&self) -> Option<&Arc<str>> {
        match &self.scope {
            RuleScope::ReachableHost(host) => Some(host),
            RuleScope::Every
            | RuleScope::Command(_)
            | RuleScope::Domain(_)
            | RuleScope::Path(_)
            | RuleScope::WritablePath(_) => None,
        }
    }

    /// Returns the path that the rule lets commands write.
    #[must_use]
    pub(super) fn writable_path(&self) -> Option<&Arc<str>> {
        match &self.scope {
            RuleScope::WritablePath(path) => Some(path),
            RuleScope::Every
            | RuleScope::Command(_)
            | RuleScope::Domain(_)
            | RuleScope::Path(_)
            | RuleScope::ReachableHost(_) => None,
        }
    }

    /// Returns whether the rule is about file edits.
    #[must_use]
    pub(super) fn is_about_edits(&self) -> bool {
        self.covers_tool("Edit") || self.covers_tool("Write")
    }

    /// Returns whether the rule could concern a part of a command: the command itself, or its
    /// files.
    #[must_use]
    pub(super) fn can_concern_commands(&self, tool: &str) -> bool {
        self.covers_tool(tool) || matches!(&*self.tool, "Read" | "Edit" | "Write")
    }

    /// Returns the rule as it was written.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }
}

/// Splits a rule into the tool's name and the specifier in brackets.
fn split_rule(text: &str) -> Result<(&str, Option<&str>), &'static str> {
    let (tool, specifier) = match text.split_once('(') {
        None => (text, None),
        Some((tool, rest)) => {
            let inside = rest.strip_suffix(')').ok_or("the closing bracket is missing")?;
            (tool, Some(inside))
        }
    };
    if tool.is_empty() || !tool.chars().all(is_name_char) {
        return Err("it does not start with a tool name");
    }
    Ok((tool, specifier))
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '*' | '.' | ':')
}

/// Returns whether a rule covers the tool's family: rules for `Edit` cover every tool that changes
/// files, rules for `Read` every tool that reads them.
fn is_same_tool_family(rule: &str, tool: &str) -> bool {
    match rule {
        "Edit" => matches!(tool, "Write" | "MultiEdit" | "NotebookEdit"),
        "Read" => matches!(tool, "Grep" | "Glob"),
        // A rule for every command also allows ending one.
        "Bash" => tool == "TaskStop",
        _ => false,
    }
}

/// Returns whether the tool belongs to the server of the rule: `mcp__server` covers every tool of
/// that server.
fn is_tool_of_server(rule: &str, tool: &str) -> bool {
    rule.starts_with("mcp__") && tool.strip_prefix(rule).is_some_and(|rest| rest.starts_with("__"))
}

impl TryFrom<Arc<str>> for PermissionRule {
    type Error = InvalidRule;

    fn try_from(text: Arc<str>) -> Result<Self, InvalidRule> {
        Self::parse(&text)
    }
}

impl From<PermissionRule> for Arc<str> {
    fn from(rule: PermissionRule) -> Self {
        rule.text
    }
}

impl fmt::Display for PermissionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
