//! Names of files within a longer word: `@file`, `file:///…`, `open('file')`, `-so.git/config`.

use windlass_core::permission::Access;

use super::found::{Found, Look};
use super::word::Word;

/// Letters of a bundle behind which a value may be glued.
const BUNDLE: usize = 8;

/// A rule may be about any file that a part of the word names.
pub(super) fn mention(word: &Word, found: &mut Found<'_>) {
    let pieces = of_word(&word.text);
    if pieces.len() > found.pieces_left {
        found.hide("its words are too long to be looked through");
    }
    for piece in pieces.into_iter().take(found.pieces_left) {
        found.pieces_left = found.pieces_left.saturating_sub(1);
        found.mention(&piece);
        if is_glued(&word.text, &piece) && found.is_protected(&piece) {
            found.reaches(&piece);
        }
    }
}

/// A text that is run may write to whatever it names. Of a long one the rest is compared by name
/// alone: looking each of them up would take too long.
pub(super) fn reach(text: &str, found: &mut Found<'_>) {
    for piece in of_word(text) {
        if !found.is_new(Look::Reach, &piece, Access::Write) {
            continue;
        }
        let is_protected = match found.pieces_left.checked_sub(1) {
            Some(left) => {
                found.pieces_left = left;
                is_protected(&piece, found)
            }
            None => is_protected_name(&piece, found),
        };
        if is_protected {
            found.reaches(&piece);
        }
    }
}

/// Protected as it is spelled, wherever links lead. Nearly all such names are hidden ones.
fn is_protected_name(piece: &str, found: &Found<'_>) -> bool {
    let is_hidden = piece.starts_with('.') || piece.contains("/.");
    let is = |folder: &std::path::PathBuf| found.zones.is_protected_name(folder, piece);
    is_hidden && found.folders.iter().any(is)
}

/// Whether a piece is what stands behind the letters of an option.
fn is_glued(word: &str, piece: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.ends_with(piece) && word != piece
}

/// Protected as it stands, in the home folder, or behind a variable: `$HOME/.bashrc`.
fn is_protected(piece: &str, found: &Found<'_>) -> bool {
    let behind = piece.split_once('/').map_or("", |(_, rest)| rest);
    let is_named = |path: &str| {
        let path = path.trim_start_matches('/');
        let home = found.zones.home();
        let mut folders = found.folders.iter().map(std::path::PathBuf::as_path).chain(home);
        !path.is_empty() && folders.any(|folder| found.zones.is_protected_name(folder, path))
    };
    found.is_protected(piece) || is_named(piece) || is_named(behind)
}

/// The parts of a word that could name a file, without the word itself.
fn of_word(word: &str) -> Vec<String> {
    let is_apart = |c: char| !(c.is_alphanumeric() || "_-+./@%~*?".contains(c));
    let bare: String = word.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    let quoted = word.split(is_apart);
    let joined = bare.split(is_apart);
    let at = |piece: &str| piece.split_once('@').map(|(_, file)| file.to_owned());
    let whole = quoted.chain(joined).filter(|piece| !piece.is_empty());
    let mut pieces: Vec<String> =
        whole.flat_map(|piece| [Some(piece.to_owned()), at(piece)]).flatten().collect();
    if word.starts_with('-') && !word.starts_with("--") {
        let starts = word.char_indices().map(|(at, _)| at).skip(2).take(BUNDLE);
        pieces.extend(starts.filter_map(|at| word.get(at..)).map(str::to_owned));
    }
    pieces.retain(|piece| piece != word && !piece.is_empty());
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}
