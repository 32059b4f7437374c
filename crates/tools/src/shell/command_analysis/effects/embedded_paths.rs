//! Paths embedded in longer words: `@file`, `file:///…`, `open('file')`, `-so.git/config`.

use windlass_core::permission::PathAccess;

use crate::shell::command_analysis::analysis::{CommandAnalysis, Look};
use crate::shell::command_analysis::shell_word::ShellWord;

/// Maximum number of letters in a bundle of options before an attached value.
const MAX_BUNDLE_LETTERS: usize = 8;

/// Records any file that a part of the word names, because a rule may be about it.
pub(crate) fn record_mentions(word: &ShellWord, found: &mut CommandAnalysis<'_>) {
    let pieces = candidate_paths(&word.text);
    if pieces.len() > found.pieces_left {
        found.mark_hidden_use("its words are too long");
    }
    for chunk in pieces.into_iter().take(found.pieces_left) {
        found.pieces_left = found.pieces_left.saturating_sub(1);
        found.add_mention(&chunk);
        if is_attached_value(&word.text, &chunk) && found.is_protected(&chunk) {
            found.add_protected_reach(&chunk);
        }
    }
}

/// Records protected paths in a text that is run, which may write to whatever it names. The rest of
/// a long text is compared by name alone: resolving each path would take too long.
pub(crate) fn record_protected_reach(text: &str, found: &mut CommandAnalysis<'_>) {
    for chunk in candidate_paths(text) {
        if !found.is_new(Look::Reach, &chunk, PathAccess::Write) {
            continue;
        }
        let is_protected = match found.pieces_left.checked_sub(1) {
            Some(remaining) => {
                found.pieces_left = remaining;
                is_protected(&chunk, found)
            }
            None => is_protected_name(&chunk, found),
        };
        if is_protected {
            found.add_protected_reach(&chunk);
        }
    }
}

/// Returns whether a name is protected as it is written, wherever links lead. Nearly all such names
/// are hidden.
fn is_protected_name(chunk: &str, found: &CommandAnalysis<'_>) -> bool {
    let is_hidden = chunk.starts_with('.') || chunk.contains("/.");
    let is = |folder: &std::path::PathBuf| found.zones.is_protected_name(folder, chunk);
    is_hidden && found.folders.iter().any(is)
}

/// Returns whether a piece is the value attached to the letters of an option.
fn is_attached_value(word: &str, chunk: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.ends_with(chunk) && word != chunk
}

/// Returns whether a piece is protected as it is, in the home folder, or after a variable:
/// `$HOME/.bashrc`.
fn is_protected(chunk: &str, found: &CommandAnalysis<'_>) -> bool {
    let behind = chunk.split_once('/').map_or("", |(_, rest)| rest);
    let is_named = |path: &str| {
        let path = path.trim_start_matches('/');
        let home = found.zones.home();
        let mut folders = found.folders.iter().map(std::path::PathBuf::as_path).chain(home);
        !path.is_empty() && folders.any(|folder| found.zones.is_protected_name(folder, path))
    };
    found.is_protected(chunk) || is_named(chunk) || is_named(behind)
}

/// Returns the parts of a word that could name a file, without the word itself.
fn candidate_paths(word: &str) -> Vec<String> {
    let is_apart = |c: char| !(c.is_alphanumeric() || "_-+./@%~*?".contains(c));
    let bare: String = word.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    let quoted = word.split(is_apart);
    let joined = bare.split(is_apart);
    let at = |chunk: &str| chunk.split_once('@').map(|(_, file)| file.to_owned());
    let whole = quoted.chain(joined).filter(|chunk| !chunk.is_empty());
    let mut pieces: Vec<String> =
        whole.flat_map(|chunk| [Some(chunk.to_owned()), at(chunk)]).flatten().collect();
    if word.starts_with('-') && !word.starts_with("--") {
        let starts = word.char_indices().map(|(at, _)| at).skip(2).take(MAX_BUNDLE_LETTERS);
        pieces.extend(starts.filter_map(|at| word.get(at..)).map(str::to_owned));
    }
    pieces.retain(|chunk| chunk != word && !chunk.is_empty());
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}
