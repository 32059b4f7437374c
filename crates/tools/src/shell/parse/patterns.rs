//! Words whose files only the shell finds: patterns, and forms of `~` that are not known here.
//!
//! A pattern is compared with rules by the names it may stand for; what those names lead to is looked
//! up, because a link may have any name.

use std::fs;
use std::path::{Path, PathBuf};

use windlass_core::permission::{Access, glob};

use super::found::{Found, Look};
use super::word::{Kind, Word};
use crate::limits::MAX_PATTERN_ENTRIES;

/// Bytes of a part of a pattern that is compared with names.
const MOST_COMPARED: usize = 100;

/// How far a command reads or writes into the folders that a pattern finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Into {
    /// The files that fit, and nothing beneath.
    Files,
    /// Everything beneath, too.
    Folders,
}

/// The files of a word that has no place.
pub(super) fn scan(word: &Word, access: Access, into: Into, found: &mut Found<'_>) {
    let patterns = spelled(word, found);
    if patterns.is_empty() || !found.are_files_known() {
        found.scan("/", access);
    }
    for pattern in patterns {
        found.scan(&pattern, access);
        look_up(&pattern, access, into, found);
    }
}

/// The pattern with the home folder put in; a quoted `~` is only itself.
fn spelled(word: &Word, found: &Found<'_>) -> Vec<String> {
    let text = word.text.clone();
    let home = found.zones.home().map(|home| home.display().to_string());
    match (word.kind, text.strip_prefix('~')) {
        (Kind::Pattern, None) => vec![text],
        (Kind::Pattern, Some(rest)) if rest.starts_with('/') => {
            home.map(|home| format!("{home}{rest}")).into_iter().chain([text.clone()]).collect()
        }
        (Kind::Pattern | Kind::Plain | Kind::Home | Kind::Unknown, _) => Vec::new(),
    }
}

/// Finds what the pattern stands for now, and a little more: every name that may fit counts.
fn look_up(pattern: &str, access: Access, into: Into, found: &mut Found<'_>) {
    let look = match into {
        Into::Files => Look::Pattern(false),
        Into::Folders => Look::Pattern(true),
    };
    if found.is_over() || !found.is_new(look, pattern, access) {
        return;
    }
    let allowed = MAX_PATTERN_ENTRIES.min(found.entries_left);
    let mut left = allowed;
    let of = |folder: &PathBuf| fitting(folder, pattern, &mut left);
    let paths: Vec<Option<Vec<PathBuf>>> = found.folders.iter().map(of).collect();
    found.entries_left = found.entries_left.saturating_sub(allowed.saturating_sub(left));
    for paths in paths {
        match paths {
            Some(paths) => paths.iter().for_each(|path| add(path, access, into, found)),
            None => found.scan("/", access),
        }
    }
}

fn add(path: &Path, access: Access, into: Into, found: &mut Found<'_>) {
    let Some(text) = path.to_str() else {
        found.scan("/", access);
        return;
    };
    let uses = found.zones.uses_from(Path::new("/"), text, access);
    // A name that leads nowhere else was compared as it stands.
    if uses.len() > 1 || !found.zones.is_known(Path::new("/"), text) {
        found.may_use(text, access);
    }
    if access == Access::Write && found.zones.is_protected(Path::new("/"), text) {
        found.reaches(text);
    }
    if into == Into::Folders && path.is_dir() {
        found.scan(text, access);
    }
}

/// The paths that fit; `None` if there are too many to look at.
fn fitting(folder: &Path, pattern: &str, left: &mut usize) -> Option<Vec<PathBuf>> {
    let start = if pattern.starts_with('/') { PathBuf::from("/") } else { folder.to_owned() };
    let mut paths = vec![start];
    for part in pattern.split('/').filter(|part| !part.is_empty() && *part != ".") {
        let mut next = Vec::new();
        for path in paths {
            if part == ".." || !is_wild(part) {
                next.push(path.join(part));
                continue;
            }
            // A folder that cannot be read holds nothing that the shell could find.
            let Ok(entries) = fs::read_dir(&path) else { continue };
            for entry in entries.flatten() {
                *left = left.checked_sub(1)?;
                let name = entry.file_name();
                if name.to_str().is_none_or(|name| may_fit(part, name)) {
                    next.push(path.join(name));
                }
            }
        }
        paths = next;
    }
    Some(paths)
}

fn is_wild(part: &str) -> bool {
    part.contains(['*', '?', '[', '\\', '('])
}

/// Brackets and backslashes are not read as the shell reads them, so they stand for every name. So does
/// what is longer than patterns are: comparing takes time in proportion to both lengths.
fn may_fit(part: &str, name: &str) -> bool {
    part.len() > MOST_COMPARED || part.contains(['[', '\\', '(']) || glob::fits(part, name)
}
