//! Commands that people wrote down: `commands/**/*.md` beside their settings. The page is the
//! prompt; its head may say what it is for, what to type behind it, and what the run may use.
//!
//! A folder that nobody trusts gives text only: its commands can be typed, but they bring no rules
//! and no model, do not hide the user's own, and are no way to a file outside of it.

use std::path::{Path, PathBuf};

use super::config_file::{ConfigFile, Owner, list};
use super::front::Page;
use super::trust::{Trust, is_users_own};
use super::{page_check, paths, rules};
use crate::args::PermissionArgs;

#[cfg(test)]
#[path = "customs_tests.rs"]
mod customs_tests;

/// Bytes of one file.
const FILE_BYTES: u64 = 256 << 10;

/// Commands that are looked for at most.
const MOST_COMMANDS: usize = 500;

/// Folders within folders.
const MOST_DEPTH: usize = 6;

/// A command, before its page is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Custom {
    /// As it is typed, without the slash: `git:commit` is `git/commit.md`.
    pub(crate) name: String,
    file: ConfigFile,
    trust: Trust,
}

/// What its page says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opened {
    /// What it is for.
    pub(crate) about: String,
    /// What to type behind it.
    pub(crate) hint: Option<String>,
    /// Rules for what may run without asking, while this prompt is worked on.
    pub(crate) rules: Option<String>,
    /// The model to ask.
    pub(crate) model: Option<String>,
    /// The prompt, with places for arguments.
    pub(crate) prompt: String,
    /// What the page asks for and does not get, because nobody trusts its folder.
    pub(crate) ignored: Vec<&'static str>,
    /// Names in its head that have no effect, each with its line.
    pub(crate) warnings: Vec<String>,
}

/// All commands in force, by name.
pub(crate) fn all(args: &PermissionArgs, workspace: &Path, trust: Trust) -> Vec<Custom> {
    in_force(|source| args.reads(source), workspace, trust)
}

/// The same, of the sources that are read.
pub(crate) fn in_force(
    reads: impl Fn(&str) -> bool,
    workspace: &Path,
    trust: Trust,
) -> Vec<Custom> {
    let user = paths::shared_settings().filter(|_| reads("user"));
    let own = user.map(|folder| found(&folder, "commands", Owner::User, Trust::Given));
    let own = own.unwrap_or_default();
    let project = match reads("project") && !is_users_own(workspace) {
        true => found(workspace, ".claude/commands", Owner::Project, trust),
        false => Vec::new(),
    };
    merged(own, project, trust)
}

/// The stronger one of two with the same name counts.
fn merged(own: Vec<Custom>, project: Vec<Custom>, trust: Trust) -> Vec<Custom> {
    let (mut strong, weak) = match trust {
        Trust::Given => (project, own),
        Trust::Missing => (own, project),
    };
    let hidden = |custom: &Custom| strong.iter().any(|known| known.name == custom.name);
    let seen: Vec<Custom> = weak.into_iter().filter(|custom| !hidden(custom)).collect();
    strong.extend(seen);
    strong.sort_by(|one, other| one.name.cmp(&other.name));
    strong
}

/// What each command of a project asks for beyond its text, one line each.
pub(crate) fn granting(workspace: &Path) -> Vec<String> {
    let customs = found(workspace, ".claude/commands", Owner::Project, Trust::Given);
    let grants = |custom: &Custom| {
        let Opened { rules, model, .. } = custom.open().ok()?;
        let asks = rules.map(|rules| format!("allowed-tools {rules}"));
        let asks = asks.into_iter().chain(model.map(|model| format!("model {model}")));
        let asks = asks.collect::<Vec<_>>().join(", ");
        (!asks.is_empty()).then(|| format!("/{}: {asks}", custom.name))
    };
    customs.iter().filter_map(grants).collect()
}

fn found(folder: &Path, sub: &str, owner: Owner, trust: Trust) -> Vec<Custom> {
    let files = list(folder, Path::new(sub), owner, MOST_DEPTH, MOST_COMMANDS);
    let custom = |file: ConfigFile| {
        let name = name_of(file.name().strip_prefix(sub).ok()?)?;
        Some(Custom { name, file, trust })
    };
    files.into_iter().filter_map(custom).collect()
}

/// The name of the command that a page is: `git:commit` for `git/commit.md`.
fn name_of(page: &Path) -> Option<String> {
    let is_page = page.extension().is_some_and(|ext| ext == "md");
    let page = page.with_extension("");
    let parts: Option<Vec<&str>> = page.iter().map(|part| part.to_str()).collect();
    let parts = parts.filter(|parts| is_page && parts.iter().all(|part| is_name(part)))?;
    Some(parts.join(":"))
}

/// Only what can be typed as a command is one.
fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(fits)
}

impl Custom {
    /// Reads the page.
    pub(crate) fn open(&self) -> Result<Opened, String> {
        let text = self.file.read(FILE_BYTES).map_err(|why| format!("it {why}"))?;
        let page = Page::read_any(&text.ok_or("it is gone")?)?;
        if page.body.is_empty() {
            return Err("the file has no prompt text; write it below the front matter".to_owned());
        }
        let findings = page_check::check_command(&page);
        if let Some(error) = findings.errors.into_iter().next() {
            return Err(error);
        }
        let field = |name: &str| page.get(name).map(str::to_owned);
        let asked = [("allowed-tools", field("allowed-tools")), ("model", field("model"))];
        let trusted = self.trust == Trust::Given;
        let ignored = asked.iter().filter(|(_, value)| !trusted && value.is_some());
        let ignored = ignored.map(|(name, _)| *name).collect();
        let [rules, model] = asked.map(|(_, value)| value.filter(|_| trusted));
        Ok(Opened {
            about: field("description").unwrap_or_else(|| first_line(&page.body)),
            hint: field("argument-hint"),
            rules: rules.map(|list| rules::split_list(&list).join(", ")),
            model: model.filter(|model| model != "inherit"),
            prompt: page.body,
            ignored,
            warnings: findings.warnings,
        })
    }

    /// Where it stands.
    pub(crate) fn path(&self) -> PathBuf {
        self.file.path()
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']).to_owned()
}
