//! The folder in which git looks for hooks, where its configuration names another one than
//! `.git/hooks`.
//!
//! Not here: git's whole configuration language. Every line that could name the folder counts, in
//! whatever section it stands, and every file that could be included is read: one folder too many is
//! protected rather than one too few.

use std::fs;
use std::path::{Path, PathBuf};

use super::pointer::{pointer, settled};
use crate::limits::{MAX_GIT_CONFIG_BYTES, MAX_GIT_CONFIG_FILES};

/// The folders that `core.hooksPath` names for the repository in which `root` lies.
pub(super) fn hooks_folders(root: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let top = root.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(root);
    let mut ahead: Vec<PathBuf> = git_folders(top)
        .into_iter()
        .flat_map(|folder| ["config", "config.worktree"].map(|name| folder.join(name)))
        .collect();
    if let Some(home) = home {
        ahead.extend([".gitconfig", ".config/git/config"].map(|name| home.join(name)));
    }
    ahead.push(PathBuf::from("/etc/gitconfig"));
    let mut read: Vec<PathBuf> = Vec::new();
    let mut folders = Vec::new();
    while let Some(file) = ahead.pop() {
        if read.len() >= MAX_GIT_CONFIG_FILES || read.contains(&file) {
            continue;
        }
        let text = small_text(&file).unwrap_or_default();
        for (key, value) in text.lines().filter_map(key_and_value) {
            match key.as_str() {
                "hookspath" => folders.push(settled(&from(top, home, &value))),
                "path" => ahead.push(from(file.parent().unwrap_or(top), home, &value)),
                _ => {}
            }
        }
        read.push(file);
    }
    folders
}

/// The folders that hold a repository's configuration; a repository without a work tree is one
/// itself.
fn git_folders(top: &Path) -> Vec<PathBuf> {
    let named = pointer(&top.join(".git"), "gitdir:");
    let shared = named.as_ref().and_then(|folder| pointer(&folder.join("commondir"), ""));
    [Some(top.join(".git")), named, shared, Some(top.to_owned())].into_iter().flatten().collect()
}

fn small_text(file: &Path) -> Option<String> {
    let found = fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
    let is_small = found.len() <= MAX_GIT_CONFIG_BYTES;
    is_small
        .then(|| fs::read(file).ok())
        .flatten()
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// `key = value`, also behind a section's name on the same line.
fn key_and_value(line: &str) -> Option<(String, String)> {
    let line = line.rsplit_once(']').map_or(line, |(_, rest)| rest);
    let (key, value) = line.split_once('=')?;
    let value = value.trim().trim_matches('"');
    (!value.is_empty()).then(|| (key.trim().to_lowercase(), value.to_owned()))
}

fn from(folder: &Path, home: Option<&Path>, path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => folder.join(path),
    }
}
