//! Checks that the core is pure: no waiting, no clock, no random numbers, no input or output.
//!
//! Cargo keeps other crates out; this keeps parts of std out. Tests of the core are exempt.

use super::finding::TidyFinding;
use super::rust_lexer;
use super::source_tree::{SourceFile, SourceTree};
use super::text_search::{bracketed_length, find_words, leading_name, line_of};

/// A word that is forbidden in the core, and where such code belongs.
const IMPURE_WORDS: &[(&str, &str)] = &[
    ("async", "waiting belongs to the driver"),
    ("tokio", "waiting belongs to the driver"),
    ("Instant", "time arrives inside inputs"),
    ("SystemTime", "time arrives inside inputs"),
    ("rand", "derive it from ids: a replay must decide the same"),
    ("print!", "the core has no reader: return it"),
    ("println!", "the core has no reader: return it"),
    ("eprint!", "the core has no reader: return it"),
    ("eprintln!", "the core has no reader: return it"),
];

/// Modules of std with access to the outside.
const IMPURE_STD_MODULES: &[&str] = &["env", "fs", "net", "process", "thread"];

pub(super) fn findings(tree: &SourceTree) -> Vec<TidyFinding> {
    let core = tree.rust_files().filter(|file| file.path.starts_with("crates/core/src/"));
    core.filter(|file| !file.is_test()).flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<TidyFinding> {
    let code = rust_lexer::code_only(&file.text);
    let words = IMPURE_WORDS.iter().flat_map(|(word, why)| find_word(&code, word, why));
    let modules =
        find_std_modules(&code).into_iter().filter(|(_, name)| IMPURE_STD_MODULES.contains(name));
    let modules = modules.map(|(at, name)| (at, impure_module_message(name)));
    words
        .chain(modules)
        .map(|(at, says)| TidyFinding::new(&file.path, line_of(&code, at), says))
        .collect()
}

fn find_word(code: &str, word: &str, why: &str) -> Vec<(usize, String)> {
    let says = format!("`{word}` in the core: {why}");
    find_words(code, word).map(|at| (at, says.clone())).collect()
}

fn impure_module_message(module: &str) -> String {
    format!("`std::{module}` in the core: the world is behind a port of the runtime")
}

/// Every module named right after `std::`, also inside `std::{…}`.
fn find_std_modules(code: &str) -> Vec<(usize, &str)> {
    let named = find_words(code, "std").filter_map(|at| {
        let path = code.get(at..)?.strip_prefix("std::")?;
        Some(first_names(path).into_iter().map(move |name| (at, name)))
    });
    named.flatten().collect()
}

fn first_names(path: &str) -> Vec<&str> {
    let group = bracketed_length(path, '{', '}').filter(|_| path.starts_with('{'));
    match group.and_then(|length| path.get(1..length)) {
        Some(group) => group.split(',').map(|entry| leading_name(entry.trim())).collect(),
        None => vec![leading_name(path)],
    }
}
