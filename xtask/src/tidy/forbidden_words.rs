//! Checks for words that must not be in the repository.
//!
//! Words of code are searched in code alone, so that a page or a test may mention them.

use super::finding::TidyFinding;
use super::rust_lexer;
use super::source_tree::{SourceFile, SourceTree};
use super::text_search::{bracketed_length, find_words, line_of};

/// Words forbidden in code, and what to do instead.
const FORBIDDEN_IN_CODE: &[(&str, &str)] = &[
    ("todo!(", "write it, or leave the call out until it exists"),
    ("#[ignore", "a test that does not run proves nothing: make it pass or delete it"),
    ("#[allow(", "use `expect` with a reason: it tells when it is no longer needed"),
    ("#![allow(", "use `expect` with a reason: it tells when it is no longer needed"),
];

/// Attributes of serde that make a format ambiguous.
const GUESSING_ATTRIBUTES: &[&str] = &["flatten", "untagged"];

/// The messages for programs: their format is that of the SDKs, which is not ours to choose.
const SDK_FORMAT_FOLDER: &str = "crates/messages/";

/// Forbidden in any text. Put together here so that this file does not contain it.
const FIX_NOTE: &str = concat!("FIX", "ME");
const HOME_PREFIXES: &[&str] =
    &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

pub(super) fn findings(tree: &SourceTree) -> Vec<TidyFinding> {
    tree.files().flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<TidyFinding> {
    let mut findings = to_findings(file, &file.text, check_text(&file.text));
    if file.is_rust() {
        let code = rust_lexer::code_only(&file.text);
        findings.extend(to_findings(file, &code, check_code(&code)));
        if !file.path.starts_with(SDK_FORMAT_FOLDER) {
            findings.extend(to_findings(file, &code, find_guessing_attributes(&code)));
        }
    }
    findings
}

/// A byte offset and what is wrong there.
type TextFinding = (usize, String);

fn to_findings(file: &SourceFile, text: &str, places: Vec<TextFinding>) -> Vec<TidyFinding> {
    let finding = |(at, says): TextFinding| TidyFinding::new(&file.path, line_of(text, at), says);
    places.into_iter().map(finding).collect()
}

fn check_text(text: &str) -> Vec<TextFinding> {
    let notes = find_words(text, FIX_NOTE);
    let notes = notes.map(|at| (at, format!("`{FIX_NOTE}`: fix it, or open an issue")));
    notes.chain(HOME_PREFIXES.iter().flat_map(|home| find_home_paths(text, home))).collect()
}

fn find_home_paths(text: &str, home: &str) -> Vec<TextFinding> {
    let starts = text.match_indices(home).filter(|(at, _)| is_path_start(text, *at));
    let says = format!("`{home}` is a folder of one machine: use a path inside the repository");
    starts.map(|(at, _)| (at, says.clone())).collect()
}

/// Returns whether a path starts here, and not in the middle of a longer one, such as
/// `src/home/page.rs` or `{folder}/home/x`.
fn is_path_start(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    !before.is_some_and(|c| c.is_alphanumeric() || "_-.~$*})>".contains(c))
}

fn check_code(code: &str) -> Vec<TextFinding> {
    let places = FORBIDDEN_IN_CODE.iter().flat_map(|(word, advice)| {
        let says = format!("`{word}`: {advice}");
        code.match_indices(word).map(move |(at, _)| (at, says.clone()))
    });
    places.collect()
}

fn find_guessing_attributes(code: &str) -> Vec<TextFinding> {
    let attributes = find_words(code, "serde").filter_map(|at| {
        let tail = code.get(at..)?.strip_prefix("serde")?;
        let inside =
            tail.get(..bracketed_length(tail, '(', ')')?).filter(|_| tail.starts_with('('))?;
        let word =
            GUESSING_ATTRIBUTES.iter().find(|word| find_words(inside, word).next().is_some())?;
        Some((at, format!("`serde({word})`: a format must not guess; use explicit tags")))
    });
    attributes.collect()
}
