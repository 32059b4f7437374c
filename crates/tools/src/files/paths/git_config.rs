//! Folders and files that git's configuration makes git run: the folder of hooks where that is not
//! `.git/hooks`, included files, and files of the workspace that a setting names.
//!
//! Not here: git's whole configuration language. Every line that could name a file counts, whatever
//! its section: the result is over-approximated, so that rather one path too many is protected than
//! one too few.

use std::fs;
use std::path::{Path, PathBuf};

use super::path_file::{read_path_file, real_or_lexical};
use crate::limits::{MAX_GIT_CONFIG_BYTES, MAX_GIT_CONFIG_FILES};

/// Returns the folders and files that decide what git runs for the repository that contains `root`.
pub(crate) fn protected_git_paths(root: &Path, home: Option<&Path>) -> Vec<PathBuf> {
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
        let text = read_small_file(&file).unwrap_or_default();
        for (key, value) in parse_entries(&text) {
            match key.as_str() {
                "hookspath" => {
                    folders.extend(hooks_folders(&resolve_config_path(top, home, &value)));
                }
                "path" => {
                    let included = resolve_config_path(file.parent().unwrap_or(top), home, &value);
                    // A folder cannot be included, and protecting one could protect everything.
                    folders.extend(Some(real_or_lexical(&included)).filter(|path| !path.is_dir()));
                    ahead.push(included);
                }
                _ => folders.extend(resolve_named_files(top, home, &value)),
            }
        }
        read.push(file);
    }
    folders
}

/// Returns the folders that contain a repository's configuration; a bare repository is one itself.
pub(super) fn git_folders(top: &Path) -> Vec<PathBuf> {
    let named = read_path_file(&top.join(".git"), "gitdir:");
    let shared = named.as_ref().and_then(|folder| read_path_file(&folder.join("commondir"), ""));
    [Some(top.join(".git")), named, shared, Some(top.to_owned())].into_iter().flatten().collect()
}

fn read_small_file(file: &Path) -> Option<String> {
    let found = fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
    let is_small = found.len() <= MAX_GIT_CONFIG_BYTES;
    is_small
        .then(|| fs::read(file).ok())
        .flatten()
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the folders of hooks. Where it is the inner folder of a tool that keeps its own files
/// beside the hooks, as `.husky/_` is, the hooks are in the folder around it.
fn hooks_folders(folder: &Path) -> Vec<PathBuf> {
    let around = folder.file_name().filter(|name| *name == "_").and(folder.parent());
    [Some(folder), around].into_iter().flatten().map(real_or_lexical).collect()
}

/// Returns files of the repository that a value names: programs, filters, helpers.
fn resolve_named_files(top: &Path, home: Option<&Path>, value: &str) -> Vec<PathBuf> {
    let is_apart = |c: char| c.is_whitespace() || "'\"!;|&()<>=`".contains(c);
    let words = value.split(is_apart).filter(|word| !word.is_empty());
    let files =
        words.map(|word| resolve_config_path(top, home, word)).filter(|file| file.is_file());
    files
        .flat_map(|file| [real_or_lexical(&file), file])
        .filter(|file| file.starts_with(top))
        .collect()
}

/// Returns every `key = value`, also after a section's name on the same line.
fn parse_entries(text: &str) -> Vec<(String, String)> {
    let joined = text.replace("\\\r\n", "").replace("\\\n", "");
    let entry = |part: &str| {
        let (key, value) = part.split_once('=')?;
        let value = read_value(value);
        (!value.is_empty()).then(|| (key.trim().to_lowercase(), value))
    };
    // All brackets are tried, so it does not matter which one ends the name of a section.
    let parts = |line: &str| {
        let behind = line.match_indices(']').filter_map(|(at, _)| line.get(at + 1..));
        behind.chain([line]).filter_map(entry).collect::<Vec<_>>()
    };
    joined.lines().flat_map(parts).collect()
}

/// Reads a value as git does: quotes are removed wherever they are, and a comment ends it.
fn read_value(text: &str) -> String {
    let (mut value, mut is_quoted) = (String::new(), false);
    let mut rest = text.trim().chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            '\\' => value.extend(rest.next()),
            '#' | ';' if !is_quoted => break,
            c => value.push(c),
        }
    }
    value.trim_end().to_owned()
}

fn resolve_config_path(folder: &Path, home: Option<&Path>, path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => folder.join(path),
    }
}
