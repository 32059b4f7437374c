//! Permission rules as people write them: `Tool`, `Tool(specifier)`.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::glob;
use super::scope::{Places, Reading, Scope};
use super::subject::{Access, PathUse, Scan, Shell, SimpleCommand, Subject};

/// Longest rule that is read.
pub const RULE_CHARS: usize = 2_000;

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Arc<str>", into = "Arc<str>")]
pub struct Rule {
    text: Arc<str>,
    tool: Arc<str>,
    scope: Scope,
}

/// Why a rule cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the rule {rule:?} cannot be read: {problem}; write for example `Read`, `Bash(npm test:*)` \
     or `Edit(src/**)`"
)]
pub struct BadRule {
    rule: String,
    problem: &'static str,
}

impl Rule {
    /// Reads a rule.
    pub fn parse(text: &str) -> Result<Self, BadRule> {
        let bad = |problem| BadRule { rule: text.chars().take(80).collect(), problem };
        let trimmed = text.trim();
        // Counting stops at the limit, however long the text.
        if trimmed.chars().nth(RULE_CHARS).is_some() {
            return Err(bad("it is too long"));
        }
        if trimmed.chars().any(char::is_control) {
            return Err(bad("it holds a control character"));
        }
        let (tool, specifier) = split(trimmed).map_err(bad)?;
        let scope = match specifier {
            Some(inside) => Scope::parse(tool, inside.trim()).map_err(bad)?,
            None => Scope::Every,
        };
        Ok(Self { text: Arc::from(trimmed), tool: Arc::from(tool), scope })
    }

    /// Whether it speaks of this tool at all.
    #[must_use]
    pub fn names(&self, tool: &str) -> bool {
        glob::fits(&self.tool, tool) || family(&self.tool, tool) || server(&self.tool, tool)
    }

    /// Whether it covers every call of the tool.
    #[must_use]
    pub fn is_unscoped(&self) -> bool {
        self.scope == Scope::Every
    }

    /// Whether it clearly covers this one command.
    #[must_use]
    pub fn covers_command(&self, command: &SimpleCommand) -> bool {
        self.scope.has_command(command, Reading::Narrow)
    }

    /// Whether it covers this path. Rules for reading say nothing about writing, and the other way
    /// round a rule for edits covers what the edit reads.
    #[must_use]
    pub fn covers_path(&self, used: &PathUse, places: Places<'_>) -> bool {
        let fits_access = used.access == Access::Read || &*self.tool != "Read";
        fits_access && self.scope.has_path(used, places, Reading::Narrow)
    }

    /// Whether it covers this host.
    #[must_use]
    pub fn covers_domain(&self, host: &str) -> bool {
        self.scope.has_host(host, Reading::Narrow)
    }

    /// Whether it may speak of any part of this call: how deny and ask rules are read.
    #[must_use]
    pub fn touches(&self, tool: &str, subject: &Subject, places: Places<'_>) -> bool {
        let direct = self.names(tool) && self.is_about(subject, places);
        match subject {
            Subject::Shell(shell) => direct || self.is_about_files_of(shell, places),
            Subject::Nothing | Subject::Paths(_) | Subject::Domain(_) => direct,
        }
    }

    fn is_about(&self, subject: &Subject, places: Places<'_>) -> bool {
        let has_path = |used| self.scope.has_path(used, places, Reading::Wide);
        let has_command = |command| self.scope.has_command(command, Reading::Wide);
        self.is_unscoped()
            || match subject {
                Subject::Nothing => false,
                Subject::Paths(paths) => paths.iter().any(has_path),
                Subject::Domain(host) => self.scope.has_host(host, Reading::Wide),
                Subject::Shell(shell) => {
                    shell.commands.iter().chain(&shell.other_names).any(has_command)
                }
            }
    }

    /// A file that may not be read is not to be read by a command either.
    fn is_about_files_of(&self, shell: &Shell, places: Places<'_>) -> bool {
        let has_path = |used| self.scope.has_path(used, places, Reading::Wide);
        let (files, more): (&[PathUse], &[PathUse]) = match (self.is_unscoped(), &*self.tool) {
            (false, "Read") => (&shell.reads, &[]),
            (false, "Edit" | "Write") => (&shell.writes, &shell.redirects),
            // A redirection is an edit; what a command writes is the command's.
            (true, "Edit" | "Write") => (&[], &shell.redirects),
            _ => (&[], &[]),
        };
        files.iter().chain(more).any(has_path)
    }

    /// Whether it may be about a part of the command that the command does not show: a file among
    /// many, or a program that one of its words names.
    #[must_use]
    pub(super) fn may_touch(&self, tool: &str, shell: &Shell, places: Places<'_>) -> bool {
        let is_about = |access: Access| match &*self.tool {
            "Read" => access == Access::Read,
            "Edit" | "Write" => access == Access::Write,
            _ => false,
        };
        let scanned =
            |scan: &Scan| is_about(scan.access) && self.scope.may_be_scanned(&scan.path, places);
        let used = |used: &PathUse| {
            is_about(used.access) && self.scope.has_path(used, places, Reading::Wide)
        };
        let mentioned = |command: &SimpleCommand| self.scope.is_mentioned(command);
        shell.scans.iter().any(scanned)
            || shell.may_use.iter().any(used)
            || (self.names(tool) && shell.commands.iter().any(mentioned))
    }

    /// Whether it is about edits of files.
    #[must_use]
    pub(super) fn is_about_edits(&self) -> bool {
        self.names("Edit") || self.names("Write")
    }

    /// Whether it could speak of a part of a command: of the command itself, or of its files.
    #[must_use]
    pub(super) fn is_heard_in_commands(&self, tool: &str) -> bool {
        self.names(tool) || matches!(&*self.tool, "Read" | "Edit" | "Write")
    }

    /// The rule as it was written.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }
}

/// The tool's name and what stands in the bracket.
fn split(text: &str) -> Result<(&str, Option<&str>), &'static str> {
    let (tool, specifier) = match text.split_once('(') {
        None => (text, None),
        Some((tool, rest)) => {
            let inside = rest.strip_suffix(')').ok_or("the bracket is not closed")?;
            (tool, Some(inside))
        }
    };
    if tool.is_empty() || !tool.chars().all(is_name_char) {
        return Err("it does not begin with a tool's name");
    }
    Ok((tool, specifier))
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '*' | '.' | ':')
}

/// Rules for `Edit` speak of every tool that changes files, rules for `Read` of every tool that
/// looks at them.
fn family(rule: &str, tool: &str) -> bool {
    match rule {
        "Edit" => matches!(tool, "Write" | "MultiEdit" | "NotebookEdit"),
        "Read" => matches!(tool, "Grep" | "Glob"),
        // Whoever may run every command may end one.
        "Bash" => tool == "KillShell",
        _ => false,
    }
}

/// `mcp__server` speaks of every tool of that server.
fn server(rule: &str, tool: &str) -> bool {
    rule.starts_with("mcp__") && tool.strip_prefix(rule).is_some_and(|rest| rest.starts_with("__"))
}

impl TryFrom<Arc<str>> for Rule {
    type Error = BadRule;

    fn try_from(text: Arc<str>) -> Result<Self, BadRule> {
        Self::parse(&text)
    }
}

impl From<Rule> for Arc<str> {
    fn from(rule: Rule) -> Self {
        rule.text
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
