//! What stands in a rule's bracket, and what it covers.
//!
//! The same scope is read in two ways. A rule that lets go is read narrowly: what it does not
//! clearly name, it does not cover. A rule that holds back is read widely: another case, a folder
//! before the name or a dot at the end do not get past it.

use std::sync::Arc;

use super::glob;
use super::hazard;
use super::mention;
use super::subject::{PathUse, SimpleCommand};

/// The scope of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Scope {
    /// Every call of the tool.
    Every,
    /// Commands of these words; a `*` that stands alone is any number of them.
    Command(Vec<Arc<str>>),
    /// Hosts: this one, and with `*.` those beneath it.
    Domain(Arc<str>),
    /// Paths of this shape.
    Path(PathPattern),
}

/// A pattern for paths and where it begins.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct PathPattern {
    from: From,
    parts: Vec<Arc<str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum From {
    /// `//x`: the root of the machine.
    Top,
    /// `~/x`: the home folder.
    Home,
    /// Everything else: the folder of the rules.
    Root,
}

/// The folders that path rules are written from.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// The folder of the rules.
    pub root: &'a str,
    /// The home folder; empty if there is none.
    pub home: &'a str,
}

/// How a rule is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// It lets go.
    Narrow,
    /// It holds back.
    Wide,
}

impl Scope {
    /// Reads what stands in the bracket.
    pub(super) fn parse(tool: &str, specifier: &str) -> Result<Self, &'static str> {
        match (tool, specifier) {
            (_, "") => Err("the bracket is empty"),
            (_, "*") => Ok(Self::Every),
            ("Bash", _) => command(specifier),
            ("WebFetch", _) => domain(specifier),
            _ if tool.starts_with("mcp__") => Err("rules for MCP tools take no bracket"),
            _ => path(specifier),
        }
    }

    pub(super) fn has_command(&self, command: &SimpleCommand, reading: Reading) -> bool {
        match (self, reading) {
            (Self::Every, _) => true,
            (Self::Command(pattern), Reading::Narrow) => {
                glob::words_fit(pattern, &command.words) && hazard::is_spelled(pattern, command)
            }
            (Self::Command(pattern), Reading::Wide) => is_near(pattern, command),
            (Self::Domain(_) | Self::Path(_), _) => false,
        }
    }

    pub(super) fn has_path(&self, used: &PathUse, places: Places<'_>, reading: Reading) -> bool {
        match self {
            Self::Every => true,
            Self::Path(pattern) => pattern.has(&used.path, places, reading),
            Self::Command(_) | Self::Domain(_) => false,
        }
    }

    /// Whether files of this shape may be among those that are read through `scan`, a folder or a
    /// pattern for paths.
    pub(super) fn may_be_scanned(&self, scan: &str, places: Places<'_>) -> bool {
        match self {
            Self::Every => true,
            Self::Path(pattern) => pattern.may_be_scanned(scan, places),
            Self::Command(_) | Self::Domain(_) => false,
        }
    }

    /// Whether the command names, among its words, a program that this scope is about: if it runs
    /// the program, nothing else shows it.
    pub(super) fn is_mentioned(&self, command: &SimpleCommand) -> bool {
        let Self::Command(pattern) = self else { return false };
        let named = pattern.first().filter(|name| name.chars().any(|c| c != '*'));
        named.is_some_and(|name| mention::is_mentioned(name, command))
    }

    pub(super) fn has_host(&self, host: &str, reading: Reading) -> bool {
        let host = host.to_lowercase();
        match (self, reading) {
            (Self::Every, _) => true,
            (Self::Domain(domain), Reading::Narrow) => is_plain(&host) && is_host(domain, &host),
            (Self::Domain(domain), Reading::Wide) => is_host(domain, host.trim_end_matches('.')),
            (Self::Command(_) | Self::Path(_), _) => false,
        }
    }
}

/// `npm test:*` and `npm test *` are any words after these; a word that ends with `*` also ends
/// the list of words that matter.
fn command(specifier: &str) -> Result<Scope, &'static str> {
    let (text, more) = match specifier.strip_suffix(":*") {
        Some(prefix) => (prefix, true),
        None => (specifier, ends_with_star(specifier)),
    };
    let mut words: Vec<Arc<str>> = text.split_whitespace().map(Arc::from).collect();
    if words.is_empty() {
        return Err("there is no command before `:*`");
    }
    if more {
        words.push(Arc::from("*"));
    }
    let all = words.iter().all(|word| &**word == "*");
    Ok(if all { Scope::Every } else { Scope::Command(words) })
}

/// Whether the last character is a star that no backslash takes the meaning from.
fn ends_with_star(specifier: &str) -> bool {
    let Some(before) = specifier.strip_suffix('*') else { return false };
    let backslashes = before.chars().rev().take_while(|c| *c == '\\').count();
    backslashes % 2 == 0
}

fn domain(specifier: &str) -> Result<Scope, &'static str> {
    let named =
        specifier.strip_prefix("domain:").ok_or("a host is written as `domain:` and its name")?;
    let domain = named.trim().trim_end_matches('.').to_lowercase();
    let name = domain.strip_prefix("*.").unwrap_or(&domain);
    match name {
        "*" => Ok(Scope::Every),
        _ if is_plain(name) => Ok(Scope::Domain(Arc::from(domain))),
        _ => Err("a host is a name such as `example.com` or `*.example.com` and nothing else"),
    }
}

fn path(specifier: &str) -> Result<Scope, &'static str> {
    let (from, rest) = match (specifier.strip_prefix("//"), specifier.strip_prefix("~/")) {
        (Some(rest), _) => (From::Top, rest),
        (_, Some(rest)) => (From::Home, rest),
        _ => (From::Root, specifier),
    };
    let mut parts: Vec<Arc<str>> = glob::parts(rest).map(Arc::from).collect();
    if parts.iter().any(|part| &**part == "..") {
        return Err("a path with `..` in it names another place than it seems to");
    }
    // As in a .gitignore: a name without any folder is meant wherever it is found.
    if from == From::Root && !specifier.trim_end_matches('/').contains('/') {
        parts.insert(0, Arc::from("**"));
    }
    Ok(Scope::Path(PathPattern { from, parts }))
}

impl PathPattern {
    fn has(&self, path: &str, places: Places<'_>, reading: Reading) -> bool {
        let Some(beneath) = self.beneath(path, places, reading) else { return false };
        let parts: Vec<&str> = self.parts.iter().map(AsRef::as_ref).collect();
        let is_exact = glob::path_fits(&parts, beneath);
        is_exact || (reading == Reading::Wide && fits_in_any_case(&parts, beneath))
    }

    fn may_be_scanned(&self, scan: &str, places: Places<'_>) -> bool {
        let scanned = Scanned::of(scan);
        let Some(own) = self.fixed_parts(places) else { return true };
        let overlaps = own.iter().zip(&scanned.folder).all(|(own, other)| own == other);
        let folder = format!("/{}", scanned.folder.join("/"));
        let last = self.parts.last().filter(|last| !glob::has_wildcard(last));
        overlaps
            && match (scanned.names, last) {
                // Files directly in the folder, and only those whose names fit.
                (Some(names), Some(last)) => {
                    self.has(&folder, places, Reading::Wide)
                        || glob::fits(&names.to_lowercase(), &last.to_lowercase())
                }
                (Some(_) | None, Some(_) | None) => true,
            }
    }

    /// The folders that every path of this shape begins with, in lower case; `None` if they are not
    /// known.
    fn fixed_parts(&self, places: Places<'_>) -> Option<Vec<String>> {
        let base = match self.from {
            From::Top => "/",
            From::Root => Some(places.root).filter(|root| !root.is_empty())?,
            From::Home => Some(places.home).filter(|home| !home.is_empty())?,
        };
        let fixed = self.parts.iter().take_while(|part| !glob::has_wildcard(part));
        Some(glob::parts(base).chain(fixed.map(AsRef::as_ref)).map(str::to_lowercase).collect())
    }

    /// The part of the path that the pattern speaks of, if it speaks of it at all.
    fn beneath<'p>(&self, path: &'p str, places: Places<'_>, reading: Reading) -> Option<&'p str> {
        match self.from {
            From::Top => Some(path),
            From::Root => beneath(places.root, path, reading),
            From::Home => beneath(places.home, path, reading),
        }
    }
}

/// Where a command reads files that it does not name.
struct Scanned<'s> {
    /// The folder beneath which they lie, in lower case.
    folder: Vec<String>,
    /// The names they have, if only those directly in the folder are read.
    names: Option<&'s str>,
}

impl<'s> Scanned<'s> {
    fn of(scan: &'s str) -> Self {
        let parts: Vec<&str> = glob::parts(scan).collect();
        let is_pattern = |part: &&str| part.contains(['*', '?', '[']);
        let fixed = parts.iter().position(is_pattern).unwrap_or(parts.len());
        let folder = parts.iter().take(fixed).map(|part| part.to_lowercase()).collect();
        let names = match parts.get(fixed..) {
            // A bracket is not read as the shell reads it, so it stands for every name.
            Some([name]) if !name.contains(['[', '\\']) => Some(*name),
            Some(_) | None => None,
        };
        Self { folder, names }
    }
}

/// What follows the folder, part by part: `/data` is not the folder of `/data-evil`.
fn beneath<'p>(folder: &str, path: &'p str, reading: Reading) -> Option<&'p str> {
    // A folder nobody knows: a rule that holds back then speaks of all of them.
    if folder.is_empty() {
        return (reading == Reading::Wide).then_some(path);
    }
    let folder = folder.trim_end_matches('/');
    let (head, rest) = path.split_at_checked(folder.len())?;
    let same = head == folder
        || (reading == Reading::Wide && head.to_lowercase() == folder.to_lowercase());
    (same && (rest.is_empty() || rest.starts_with('/'))).then_some(rest)
}

fn fits_in_any_case(parts: &[&str], path: &str) -> bool {
    let lower: Vec<String> = parts.iter().map(|part| part.to_lowercase()).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    glob::path_fits(&lower, &path.to_lowercase())
}

fn is_near(pattern: &[Arc<str>], command: &SimpleCommand) -> bool {
    let fits = |command: &SimpleCommand| {
        let joined = || glob::fits(&pattern.join(" "), &command.words.join(" "));
        glob::words_fit(pattern, &command.words) || joined()
    };
    fits(command) || command.bare().is_some_and(|bare| fits(&bare))
}

fn is_host(domain: &str, host: &str) -> bool {
    match domain.strip_prefix("*.") {
        Some(parent) => host.strip_suffix(parent).is_some_and(|h| h.len() > 1 && h.ends_with('.')),
        None => host == domain,
    }
}

/// Whether a host is made of letters, digits, hyphens, dots, or is an address; and of nothing that
/// a resolver could read in another way than we do.
fn is_plain(host: &str) -> bool {
    let allowed =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | ':' | '[' | ']');
    !host.is_empty() && !host.starts_with('.') && !host.ends_with('.') && host.chars().all(allowed)
}
