//! Glob patterns and forms of `~` that only the shell expands.
//!
//! A pattern is compared with rules by the names it may match; what those names lead to is
//! resolved, because a link may have any name.

use std::fs;
use std::path::{Path, PathBuf};

use windlass_core::permission::{PathAccess, glob};

use crate::limits::MAX_PATTERN_ENTRIES;
use crate::shell::command_analysis::analysis::{CommandAnalysis, Look};
use crate::shell::command_analysis::shell_word::{ShellWord, WordKind};

/// Maximum length of a part of a pattern that is compared with names, in bytes.
const MOST_COMPARED: usize = 100;

/// How far a command reads or writes into the folders that a pattern matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScanDepth {
    /// Only the files that match.
    Files,
    /// The matches and everything beneath them.
    Folders,
}

/// Records the files of a word that has no known path.
pub(crate) fn scan_word(
    word: &ShellWord,
    access: PathAccess,
    into: ScanDepth,
    found: &mut CommandAnalysis<'_>,
) {
    let patterns = expand_pattern(word, found);
    if patterns.is_empty() || !found.are_files_known() {
        found.add_scan("/", access);
    }
    for pattern in patterns {
        found.add_scan(&pattern, access);
        record_matches(&pattern, access, into, found);
    }
}

/// Returns the pattern with the home folder inserted; a quoted `~` is literal.
fn expand_pattern(word: &ShellWord, found: &CommandAnalysis<'_>) -> Vec<String> {
    let text = word.text.clone();
    let home = found.zones.home().map(|home| home.display().to_string());
    match (word.kind, text.strip_prefix('~')) {
        (WordKind::Pattern, None) => vec![text],
        (WordKind::Pattern, Some(rest)) if rest.starts_with('/') => {
            home.map(|home| format!("{home}{rest}")).into_iter().chain([text.clone()]).collect()
        }
        (WordKind::Pattern | WordKind::Plain | WordKind::Home | WordKind::Unknown, _) => Vec::new(),
    }
}

/// Records what the pattern matches now, over-approximated: every name that may match counts.
fn record_matches(
    pattern: &str,
    access: PathAccess,
    into: ScanDepth,
    found: &mut CommandAnalysis<'_>,
) {
    let look = match into {
        ScanDepth::Files => Look::Pattern(false),
        ScanDepth::Folders => Look::Pattern(true),
    };
    if found.is_stopped() || !found.is_new(look, pattern, access) {
        return;
    }
    let allowed = MAX_PATTERN_ENTRIES.min(found.entries_left);
    let mut remaining = allowed;
    let of = |folder: &PathBuf| matching_paths(folder, pattern, &mut remaining);
    let paths: Vec<Option<Vec<PathBuf>>> = found.folders.iter().map(of).collect();
    found.entries_left = found.entries_left.saturating_sub(allowed.saturating_sub(remaining));
    for paths in paths {
        match paths {
            Some(paths) => paths.iter().for_each(|path| record_match(path, access, into, found)),
            None => found.add_scan("/", access),
        }
    }
}

fn record_match(path: &Path, access: PathAccess, into: ScanDepth, found: &mut CommandAnalysis<'_>) {
    let Some(text) = path.to_str() else {
        found.add_scan("/", access);
        return;
    };
    let uses = found.zones.path_uses_from(Path::new("/"), text, access);
    // A name that leads nowhere else was already compared as it is.
    if uses.len() > 1 || !found.zones.is_resolvable(Path::new("/"), text) {
        found.add_possible_path(text, access);
    }
    if access == PathAccess::Write && found.zones.is_protected(Path::new("/"), text) {
        found.add_protected_reach(text);
    }
    if into == ScanDepth::Folders && path.is_dir() {
        found.add_scan(text, access);
    }
}

/// Returns the paths that match; `None` if there are too many entries to read.
fn matching_paths(folder: &Path, pattern: &str, remaining: &mut usize) -> Option<Vec<PathBuf>> {
    let start = if pattern.starts_with('/') { PathBuf::from("/") } else { folder.to_owned() };
    let mut paths = vec![start];
    for part in pattern.split('/').filter(|part| !part.is_empty() && *part != ".") {
        let mut next = Vec::new();
        for path in paths {
            if part == ".." || !has_wildcard(part) {
                next.push(path.join(part));
                continue;
            }
            // The shell finds nothing in a folder that cannot be read.
            let Ok(entries) = fs::read_dir(&path) else { continue };
            for entry in entries.flatten() {
                *remaining = remaining.checked_sub(1)?;
                let name = entry.file_name();
                if name.to_str().is_none_or(|name| may_match(part, name)) {
                    next.push(path.join(name));
                }
            }
        }
        paths = next;
    }
    Some(paths)
}

fn has_wildcard(part: &str) -> bool {
    part.contains(['*', '?', '[', '\\', '('])
}

/// Returns whether a part may match a name. Brackets and backslashes are not interpreted as the
/// shell does, so they match every name. So does an overlong part: comparing takes time in
/// proportion to both lengths.
fn may_match(part: &str, name: &str) -> bool {
    part.len() > MOST_COMPARED || part.contains(['[', '\\', '(']) || glob::matches_name(part, name)
}
