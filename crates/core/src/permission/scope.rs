//! The specifier of a rule, matched strictly for allow rules and broadly for deny and ask rules.
//!
//! Strictly means: what the specifier does not clearly name, it does not cover. Broadly means:
//! another case, a folder before the name or a dot at the end do not bypass the rule.

use std::sync::Arc;

use super::glob;
use super::hazardous_options;
use super::program_mention;
use super::subject::{PathUse, SimpleCommand};

/// The scope of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum RuleScope {
    /// Every call of the tool.
    Every,
    /// Commands of these words; a separate `*` is any number of words.
    Command(Vec<Arc<str>>),
    /// A host; with `*.` also the hosts beneath it.
    Domain(Arc<str>),
    /// Paths that match this pattern.
    Path(PathPattern),
    /// A host and port that commands may reach, beyond the policy of the sandbox.
    ReachableHost(Arc<str>),
    /// A path that commands may write, beyond the policy of the sandbox.
    WritablePath(Arc<str>),
}

/// A path pattern and the folder it starts from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct PathPattern {
    from: PatternBase,
    parts: Vec<Arc<str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum PatternBase {
    /// `//x`: the root of the machine.
    FilesystemRoot,
    /// `~/x`: the home folder.
    Home,
    /// All others: the folder of the rules.
    RulesFolder,
}

/// The folders that path rules start from.
#[derive(Debug, Clone, Copy)]
pub struct RuleFolders<'a> {
    /// The folder of the rules.
    pub root: &'a str,
    /// The home folder; empty if unknown.
    pub home: &'a str,
}

/// How a rule is matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatchMode {
    /// Strictly, as an allow rule.
    Strict,
    /// Broadly, as a deny or ask rule.
    Broad,
}

impl RuleScope {
    /// Parses the specifier in brackets.
    pub(super) fn parse(tool: &str, specifier: &str) -> Result<Self, &'static str> {
        match (tool, specifier) {
            (_, "") => Err("the brackets are empty"),
            (SANDBOX, _) => parse_sandbox_scope(specifier),
            (_, "*") => Ok(Self::Every),
            ("Bash", _) => parse_command_scope(specifier),
            ("WebFetch", _) => parse_domain_scope(specifier),
            _ if tool.starts_with("mcp__") => {
                Err("rules for MCP tools take no specifier in brackets")
            }
            _ => parse_path_scope(specifier),
        }
    }

    pub(super) fn covers_command(&self, command: &SimpleCommand, reading: MatchMode) -> bool {
        match (self, reading) {
            (Self::Every, _) => true,
            (Self::Command(pattern), MatchMode::Strict) => {
                glob::matches_words(pattern, &command.words)
                    && hazardous_options::names_every_hazard(pattern, command)
            }
            (Self::Command(pattern), MatchMode::Broad) => matches_loosely(pattern, command),
            (
                Self::Domain(_) | Self::Path(_) | Self::ReachableHost(_) | Self::WritablePath(_),
                _,
            ) => false,
        }
    }

    pub(super) fn covers_path(
        &self,
        used: &PathUse,
        places: RuleFolders<'_>,
        reading: MatchMode,
    ) -> bool {
        match self {
            Self::Every => true,
            Self::Path(pattern) => pattern.matches(&used.path, places, reading),
            Self::Command(_) | Self::Domain(_) | Self::ReachableHost(_) | Self::WritablePath(_) => {
                false
            }
        }
    }

    /// Returns whether files of this scope may be among those that are read through `scan`, a
    /// folder or a path pattern.
    pub(super) fn may_be_scanned(&self, scan: &str, places: RuleFolders<'_>) -> bool {
        match self {
            Self::Every => true,
            Self::Path(pattern) => pattern.may_be_scanned(scan, places),
            Self::Command(_) | Self::Domain(_) | Self::ReachableHost(_) | Self::WritablePath(_) => {
                false
            }
        }
    }

    /// Returns whether the command names, among its words, a program that this scope is about: if
    /// the command runs the program, nothing else shows it.
    pub(super) fn may_be_run_by(&self, command: &SimpleCommand) -> bool {
        let Self::Command(pattern) = self else { return false };
        let named = pattern.first().filter(|name| name.chars().any(|c| c != '*'));
        named.is_some_and(|name| program_mention::mentions_program(name, command))
    }

    pub(super) fn covers_host(&self, host: &str, reading: MatchMode) -> bool {
        let host = host.to_lowercase();
        match (self, reading) {
            (Self::Every, _) => true,
            (Self::Domain(domain), MatchMode::Strict) => {
                is_plain_host(&host) && matches_domain(domain, &host)
            }
            (Self::Domain(domain), MatchMode::Broad) => {
                matches_domain(domain, host.trim_end_matches('.'))
            }
            (
                Self::Command(_) | Self::Path(_) | Self::ReachableHost(_) | Self::WritablePath(_),
                _,
            ) => false,
        }
    }
}

/// Parses the scope of a command: `npm test:*` and `npm test *` are any words after these; a word
/// that ends with `*` also ends the list of words that matter.
fn parse_command_scope(specifier: &str) -> Result<RuleScope, &'static str> {
    let (text, more) = match specifier.strip_suffix(":*") {
        Some(prefix) => (prefix, true),
        None => (specifier, ends_with_star(specifier)),
    };
    let mut words: Vec<Arc<str>> = text.split_whitespace().map(Arc::from).collect();
    if words.is_empty() {
        return Err("no command before `:*`");
    }
    if more {
        words.push(Arc::from("*"));
    }
    let all = words.iter().all(|word| &**word == "*");
    Ok(if all { RuleScope::Every } else { RuleScope::Command(words) })
}

/// Returns whether the last character is a star that is not escaped.
fn ends_with_star(specifier: &str) -> bool {
    let Some(before) = specifier.strip_suffix('*') else { return false };
    let backslashes = before.chars().rev().take_while(|c| *c == '\\').count();
    backslashes % 2 == 0
}

fn parse_domain_scope(specifier: &str) -> Result<RuleScope, &'static str> {
    let named = specifier
        .strip_prefix("domain:")
        .ok_or("write a host as `domain:` followed by its name")?;
    let domain = named.trim().trim_end_matches('.').to_lowercase();
    let name = domain.strip_prefix("*.").unwrap_or(&domain);
    match name {
        "*" => Ok(RuleScope::Every),
        _ if is_plain_host(name) => Ok(RuleScope::Domain(Arc::from(domain))),
        _ => Err("a host must be a plain name such as `example.com` or `*.example.com`"),
    }
}

/// The name before rules about what commands get beyond the policy of the sandbox.
pub(super) const SANDBOX: &str = "Sandbox";

/// Parses `host:NAME:PORT` and `write:/PATH`: one host or one path, without patterns.
fn parse_sandbox_scope(specifier: &str) -> Result<RuleScope, &'static str> {
    const EXPECTED: &str =
        "write `host:` with a name and a port, or `write:` with an absolute path";
    if let Some(host) = specifier.strip_prefix("host:") {
        let (name, port) = host.rsplit_once(':').ok_or(EXPECTED)?;
        let is_port = port.parse::<u16>().is_ok_and(|number| number.to_string() == port);
        return match is_plain_host(name) && is_port {
            true => Ok(RuleScope::ReachableHost(Arc::from(host.to_lowercase()))),
            false => Err(EXPECTED),
        };
    }
    let path = specifier.strip_prefix("write:").ok_or(EXPECTED)?;
    let is_plain = path.starts_with('/')
        && path.len() > 1
        && path.split('/').skip(1).all(|part| !matches!(part, "" | "." | ".."));
    match is_plain {
        true => Ok(RuleScope::WritablePath(Arc::from(path))),
        false => Err(EXPECTED),
    }
}

fn parse_path_scope(specifier: &str) -> Result<RuleScope, &'static str> {
    let (from, rest) = match (specifier.strip_prefix("//"), specifier.strip_prefix("~/")) {
        (Some(rest), _) => (PatternBase::FilesystemRoot, rest),
        (_, Some(rest)) => (PatternBase::Home, rest),
        _ => (PatternBase::RulesFolder, specifier),
    };
    let mut parts: Vec<Arc<str>> = glob::path_parts(rest).map(Arc::from).collect();
    if parts.iter().any(|part| &**part == "..") {
        return Err("a path must not contain `..`");
    }
    // As in a .gitignore: a name without a folder matches in every folder.
    if from == PatternBase::RulesFolder && !specifier.trim_end_matches('/').contains('/') {
        parts.insert(0, Arc::from("**"));
    }
    Ok(RuleScope::Path(PathPattern { from, parts }))
}

impl PathPattern {
    fn matches(&self, path: &str, places: RuleFolders<'_>, reading: MatchMode) -> bool {
        let Some(beneath) = self.path_under_base(path, places, reading) else { return false };
        let parts: Vec<&str> = self.parts.iter().map(AsRef::as_ref).collect();
        let is_exact = glob::matches_path(&parts, beneath);
        is_exact || (reading == MatchMode::Broad && matches_ignoring_case(&parts, beneath))
    }

    fn may_be_scanned(&self, scan: &str, places: RuleFolders<'_>) -> bool {
        let scanned = ScannedFolder::parse(scan);
        let Some(own) = self.fixed_prefix(places) else { return true };
        let overlaps = own.iter().zip(&scanned.folder).all(|(own, other)| own == other);
        let folder = format!("/{}", scanned.folder.join("/"));
        let last = self.parts.last().filter(|last| !glob::has_wildcard(last));
        overlaps
            && match (scanned.names, last) {
                // Files directly in the folder, and only those whose names match.
                (Some(names), Some(last)) => {
                    self.matches(&folder, places, MatchMode::Broad)
                        || glob::matches_name(&names.to_lowercase(), &last.to_lowercase())
                }
                (Some(_) | None, Some(_) | None) => true,
            }
    }

    /// Returns the folders that every path of this pattern starts with, in lower case; `None` if
    /// they are not known.
    fn fixed_prefix(&self, places: RuleFolders<'_>) -> Option<Vec<String>> {
        let base = match self.from {
            PatternBase::FilesystemRoot => "/",
            PatternBase::RulesFolder => Some(places.root).filter(|root| !root.is_empty())?,
            PatternBase::Home => Some(places.home).filter(|home| !home.is_empty())?,
        };
        let fixed = self.parts.iter().take_while(|part| !glob::has_wildcard(part));
        Some(
            glob::path_parts(base).chain(fixed.map(AsRef::as_ref)).map(str::to_lowercase).collect(),
        )
    }

    /// Returns the part of the path that the pattern applies to, if it applies at all.
    fn path_under_base<'p>(
        &self,
        path: &'p str,
        places: RuleFolders<'_>,
        reading: MatchMode,
    ) -> Option<&'p str> {
        match self.from {
            PatternBase::FilesystemRoot => Some(path),
            PatternBase::RulesFolder => path_under(places.root, path, reading),
            PatternBase::Home => path_under(places.home, path, reading),
        }
    }
}

/// A folder in which a command reads files that it does not name.
struct ScannedFolder<'s> {
    /// The folder above the files, in lower case.
    folder: Vec<String>,
    /// Pattern of the file names, if only those directly in the folder are read.
    names: Option<&'s str>,
}

impl<'s> ScannedFolder<'s> {
    fn parse(scan: &'s str) -> Self {
        let parts: Vec<&str> = glob::path_parts(scan).collect();
        let is_pattern = |part: &&str| part.contains(['*', '?', '[']);
        let fixed = parts.iter().position(is_pattern).unwrap_or(parts.len());
        let folder = parts.iter().take(fixed).map(|part| part.to_lowercase()).collect();
        let names = match parts.get(fixed..) {
            // A bracket expression is not parsed as the shell does, so it stands for every name.
            Some([name]) if !name.contains(['[', '\\']) => Some(*name),
            Some(_) | None => None,
        };
        Self { folder, names }
    }
}

/// Returns what follows the folder, part by part: `/data` is not the folder of `/data-evil`.
fn path_under<'p>(folder: &str, path: &'p str, reading: MatchMode) -> Option<&'p str> {
    // Unknown folder: deny and ask rules then match every path.
    if folder.is_empty() {
        return (reading == MatchMode::Broad).then_some(path);
    }
    let folder = folder.trim_end_matches('/');
    let (head, rest) = path.split_at_checked(folder.len())?;
    let same = head == folder
        || (reading == MatchMode::Broad && head.to_lowercase() == folder.to_lowercase());
    (same && (rest.is_empty() || rest.starts_with('/'))).then_some(rest)
}

fn matches_ignoring_case(parts: &[&str], path: &str) -> bool {
    let lower: Vec<String> = parts.iter().map(|part| part.to_lowercase()).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    glob::matches_path(&lower, &path.to_lowercase())
}

fn matches_loosely(pattern: &[Arc<str>], command: &SimpleCommand) -> bool {
    let fits = |command: &SimpleCommand| {
        let joined = || glob::matches_name(&pattern.join(" "), &command.words.join(" "));
        glob::matches_words(pattern, &command.words) || joined()
    };
    fits(command) || command.without_folder().is_some_and(|bare| fits(&bare))
}

fn matches_domain(domain: &str, host: &str) -> bool {
    match domain.strip_prefix("*.") {
        Some(parent) => host.strip_suffix(parent).is_some_and(|h| h.len() > 1 && h.ends_with('.')),
        None => host == domain,
    }
}

/// Returns whether a host consists of letters, digits, hyphens and dots, or is an address; and of
/// nothing that a resolver could interpret differently.
fn is_plain_host(host: &str) -> bool {
    let allowed =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | ':' | '[' | ']');
    !host.is_empty() && !host.starts_with('.') && !host.ends_with('.') && host.chars().all(allowed)
}
