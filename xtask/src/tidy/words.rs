//! Words that must not be in the repository.
//!
//! Words of code are looked for in code alone, so that a page or a test may speak of them.

use super::finding::Finding;
use super::nesting::{bracketed, line_of, whole_words};
use super::rust;
use super::tree::{File, Tree};

/// In code, and what to do instead.
const IN_CODE: &[(&str, &str)] = &[
    ("todo!(", "write it, or leave the call out until it exists"),
    ("#[ignore", "a test that does not run proves nothing: make it pass or delete it"),
    ("#[allow(", "use `expect` with a reason: it tells when it is no longer needed"),
    ("#![allow(", "use `expect` with a reason: it tells when it is no longer needed"),
];

/// Attributes of serde that make a format guess.
const GUESSING: &[&str] = &["flatten", "untagged"];

/// In any text. They are put together here so that this file does not hold them.
const NOTE_TO_SELF: &str = concat!("FIX", "ME");
const HOMES: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    tree.files().flat_map(of_file).collect()
}

fn of_file(file: &File) -> Vec<Finding> {
    let mut findings = at_places(file, &file.text, in_text(&file.text));
    if file.is_rust() {
        let code = rust::code(&file.text);
        findings.extend(at_places(file, &code, in_code(&code)));
    }
    findings
}

/// A byte offset and what is wrong there.
type Place = (usize, String);

fn at_places(file: &File, text: &str, places: Vec<Place>) -> Vec<Finding> {
    let finding = |(at, says): Place| Finding::new(&file.path, line_of(text, at), says);
    places.into_iter().map(finding).collect()
}

fn in_text(text: &str) -> Vec<Place> {
    let notes = whole_words(text, NOTE_TO_SELF);
    let notes = notes.map(|at| (at, format!("`{NOTE_TO_SELF}`: fix it, or open an issue")));
    notes.chain(HOMES.iter().flat_map(|home| home_paths(text, home))).collect()
}

fn home_paths(text: &str, home: &str) -> Vec<Place> {
    let starts = text.match_indices(home).filter(|(at, _)| begins_a_path(text, *at));
    let says = format!("`{home}` is a folder of one machine: use a path inside the repository");
    starts.map(|(at, _)| (at, says.clone())).collect()
}

/// Not in the middle of a longer path, such as `src/home/page.rs` or `{folder}/home/x`.
fn begins_a_path(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    !before.is_some_and(|c| c.is_alphanumeric() || "_-.~$*})>".contains(c))
}

fn in_code(code: &str) -> Vec<Place> {
    let places = IN_CODE.iter().flat_map(|(word, advice)| {
        let says = format!("`{word}`: {advice}");
        code.match_indices(word).map(move |(at, _)| (at, says.clone()))
    });
    places.chain(guessing_formats(code)).collect()
}

fn guessing_formats(code: &str) -> Vec<Place> {
    let attributes = whole_words(code, "serde").filter_map(|at| {
        let tail = code.get(at..)?.strip_prefix("serde")?;
        let inside = tail.get(..bracketed(tail, '(', ')')?).filter(|_| tail.starts_with('('))?;
        let word = GUESSING.iter().find(|word| whole_words(inside, word).next().is_some())?;
        Some((at, format!("`serde({word})`: a format must not guess; use explicit tags")))
    });
    attributes.collect()
}
