//! Commands that people wrote down: `commands/**/*.md` beside their settings. The page is the
//! prompt; its head may say what it is for, what to type behind it, and what the run may use.
//!
//! A folder that nobody trusts gives text only: its commands can be typed, but they bring no rules
//! and no model, do not hide the user's own, and are no way to a file outside of it.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::front::Page;
use super::paths;
use super::trust::Trust;
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
    path: PathBuf,
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
    let own = user.map(|folder| found(&folder.join("commands"), Trust::Given)).unwrap_or_default();
    let project = match reads("project") {
        true => found(&workspace.join(".claude/commands"), trust),
        false => Vec::new(),
    };
    let inside = |custom: &Custom| {
        let real = custom.path.canonicalize();
        trust == Trust::Given || real.is_ok_and(|real| real.starts_with(workspace))
    };
    let project: Vec<Custom> = project.into_iter().filter(inside).collect();
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

fn found(folder: &Path, trust: Trust) -> Vec<Custom> {
    let mut customs = Vec::new();
    walk(folder, &mut Vec::new(), trust, &mut customs);
    customs
}

fn walk(folder: &Path, names: &mut Vec<String>, trust: Trust, into: &mut Vec<Custom>) {
    let Ok(files) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = files.filter_map(Result::ok).map(|file| file.path()).collect();
    paths.sort();
    for path in paths {
        let Some(name) = path.file_stem().and_then(|name| name.to_str()).filter(|n| is_name(n))
        else {
            continue;
        };
        names.push(name.to_owned());
        if path.is_dir() && names.len() < MOST_DEPTH {
            walk(&path, names, trust, into);
        } else if path.is_file() && is_page(&path) && into.len() < MOST_COMMANDS {
            into.push(Custom { name: names.join(":"), path, trust });
        }
        names.pop();
    }
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|ext| ext == "md")
}

/// Only what can be typed as a command is one.
fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(fits)
}

impl Custom {
    /// Reads the page.
    pub(crate) fn open(&self) -> Result<Opened, String> {
        let page = Page::read_any(&text(&self.path)?)?;
        if page.body.is_empty() {
            return Err("its page says nothing; write the prompt into it".to_owned());
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
            rules: rules.map(|rules| rules.trim_matches(['[', ']']).to_owned()),
            model: model.filter(|model| model != "inherit"),
            prompt: page.body,
            ignored,
        })
    }

    /// Where it stands.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']).to_owned()
}

fn text(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    match file.take(FILE_BYTES + 1).read_to_string(&mut text) {
        Ok(_) if text.len() as u64 <= FILE_BYTES => Ok(text),
        Ok(_) => Err(format!("it is larger than {} KiB", FILE_BYTES >> 10)),
        Err(error) => Err(format!("it cannot be read: {error}")),
    }
}
