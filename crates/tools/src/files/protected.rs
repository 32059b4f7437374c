//! Places where writing changes what may run: hooks, tasks, keys, start files of shells, our own
//! configuration. They count whether they exist or not: who creates one decides what is in it.

use std::fs;
use std::path::{Path, PathBuf};

use super::path::absolute;
use super::resolve::{Real, real};
use crate::limits::MAX_POINTER_BYTES;

/// Names that are protected in every folder, part by part. A name at the end that `*` follows may
/// go on; a folder protects all that is in it, and it is itself protected, because moving another
/// one to its place brings other contents.
const ANYWHERE: &[&[&str]] = &[
    &[".git"],
    &[".mcp.json"],
    &[".claude", "settings*"],
    &[".claude", "hooks"],
    &[".vscode", "tasks.json"],
    &[".windlass"],
];

/// Folders that hold protected names: they are protected as a whole, but not what else is in them.
const HOLDERS: &[&str] = &[".claude", ".vscode"];

/// Names that are protected in the home folder.
const AT_HOME: &[&[&str]] = &[
    &[".ssh"],
    &[".gnupg"],
    &[".bashrc"],
    &[".bash_profile"],
    &[".bash_login"],
    &[".bash_logout"],
    &[".bash_aliases"],
    &[".profile"],
    &[".inputrc"],
    &[".zshrc"],
    &[".zshenv"],
    &[".zprofile"],
    &[".zlogin"],
    &[".zlogout"],
    &[".kshrc"],
    &[".cshrc"],
    &[".tcshrc"],
    &[".login"],
    &[".pam_environment"],
    &[".gitconfig"],
    &[".netrc"],
    &[".npmrc"],
    &[".cargo", "config*"],
    &[".config", "fish"],
    &[".config", "git"],
    &[".config", "autostart"],
    &[".config", "systemd"],
    &[".config", "environment.d"],
];

/// What is protected for one session.
#[derive(Debug, Clone)]
pub(super) struct Protected {
    folders: Vec<PathBuf>,
    home: Option<PathBuf>,
}

impl Protected {
    pub(super) fn of(root: &Path, home: Option<&Path>) -> Self {
        let mut protected = Self { folders: Vec::new(), home: home.map(Path::to_owned) };
        protected.add_git_of(root);
        protected
    }

    pub(super) fn add(&mut self, folder: PathBuf) {
        self.folders.push(folder);
    }

    /// In a worktree or a submodule `.git` is a file that says where the folder is.
    pub(super) fn add_git_of(&mut self, root: &Path) {
        let Some(folder) = pointer(&root.join(".git"), "gitdir:") else { return };
        let shared = pointer(&folder.join("commondir"), "");
        self.folders.extend(std::iter::once(folder).chain(shared));
    }

    pub(super) fn has(&self, path: &Path) -> bool {
        let parts: Vec<String> = folded(path);
        let in_folder = |folder: &PathBuf| folded_starts_with(&parts, folder);
        let at_home = self.home.as_deref().and_then(|home| parts.get(folded(home).len()..));
        let is_home = self.home.as_deref().is_some_and(|home| folded_starts_with(&parts, home));
        has_anywhere(&parts)
            || self.folders.iter().any(in_folder)
            || (is_home && at_home.is_some_and(|rest| begins(rest, AT_HOME)))
    }
}

/// Our own configuration and state.
pub(super) fn own_folders(variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let at_home = |folder: &str| variable("HOME").map(|home| home.join(folder));
    let config = variable("XDG_CONFIG_HOME").or_else(|| at_home(".config"));
    let state = variable("XDG_STATE_HOME").or_else(|| at_home(".local/state"));
    let named = [config, state].into_iter().flatten().map(|folder| folder.join("windlass"));
    named.chain(variable("WINDLASS_HOME")).filter(|folder| folder.is_absolute()).collect()
}

fn has_anywhere(parts: &[String]) -> bool {
    let begins_at = |at: usize| parts.get(at..).is_some_and(|rest| begins(rest, ANYWHERE));
    let is_holder = parts.last().is_some_and(|last| HOLDERS.contains(&last.as_str()));
    is_holder || (0..parts.len()).any(begins_at)
}

fn begins(parts: &[String], names: &[&[&str]]) -> bool {
    let is = |part: &String, name: &str| match name.strip_suffix('*') {
        Some(start) => part.starts_with(start),
        None => part == name,
    };
    let all = |name: &[&str]| {
        parts.len() >= name.len() && name.iter().zip(parts).all(|(name, part)| is(part, name))
    };
    names.iter().any(|name| all(name))
}

fn folded_starts_with(parts: &[String], folder: &Path) -> bool {
    parts.starts_with(&folded(folder))
}

/// The parts of a path as the most careless file system would compare them: case does not count,
/// nor do characters without a width, nor dots and blanks at the end.
fn folded(path: &Path) -> Vec<String> {
    let part = |part: std::path::Component<'_>| match part {
        std::path::Component::Normal(name) => Some(fold(&name.to_string_lossy())),
        _ => None,
    };
    path.components().filter_map(part).collect()
}

fn fold(name: &str) -> String {
    let visible = name.chars().filter(|c| !crate::input::is_invisible(*c));
    let folded: String =
        visible.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    match folded.trim_end_matches(['.', ' ']) {
        "git~1" => ".git".to_owned(),
        trimmed => trimmed.to_owned(),
    }
}

/// Where a small file that holds a path points to.
fn pointer(file: &Path, mark: &str) -> Option<PathBuf> {
    let size = fs::symlink_metadata(file).ok().filter(fs::Metadata::is_file)?.len();
    let text = (size <= MAX_POINTER_BYTES).then(|| fs::read_to_string(file).ok())??;
    let target = text.strip_prefix(mark)?.trim();
    let whole = file.parent()?.join(target);
    match real(&whole) {
        Real::At(real) => Some(real),
        Real::Nowhere => Some(absolute(Path::new("/"), &whole)),
    }
}
