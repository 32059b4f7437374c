//! The core decides and does nothing else: no waiting, no clock, no chance, no world.
//!
//! Cargo keeps other crates out; this keeps out what std brings along. Its tests are free.

use super::finding::Finding;
use super::nesting::{bracketed, leading_name, line_of, whole_words};
use super::rust;
use super::tree::{File, Tree};

/// A word that has no business in the core, and where the thing belongs.
const IMPURE: &[(&str, &str)] = &[
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

/// Modules of std that reach outside.
const WORLD: &[&str] = &["env", "fs", "net", "process", "thread"];

pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    let core = tree.rust_files().filter(|file| file.path.starts_with("crates/core/src/"));
    core.filter(|file| !file.is_test()).flat_map(of_file).collect()
}

fn of_file(file: &File) -> Vec<Finding> {
    let code = rust::code(&file.text);
    let words = IMPURE.iter().flat_map(|(word, why)| places_of(&code, word, why));
    let modules = modules_of_std(&code).into_iter().filter(|(_, name)| WORLD.contains(name));
    let modules = modules.map(|(at, name)| (at, outside(name)));
    words
        .chain(modules)
        .map(|(at, says)| Finding::new(&file.path, line_of(&code, at), says))
        .collect()
}

fn places_of(code: &str, word: &str, why: &str) -> Vec<(usize, String)> {
    let says = format!("`{word}` in the core: {why}");
    whole_words(code, word).map(|at| (at, says.clone())).collect()
}

fn outside(module: &str) -> String {
    format!("`std::{module}` in the core: the world is behind a port of the runtime")
}

/// Every module named right after `std::`, also inside `std::{…}`.
fn modules_of_std(code: &str) -> Vec<(usize, &str)> {
    let named = whole_words(code, "std").filter_map(|at| {
        let path = code.get(at..)?.strip_prefix("std::")?;
        Some(first_names(path).into_iter().map(move |name| (at, name)))
    });
    named.flatten().collect()
}

fn first_names(path: &str) -> Vec<&str> {
    let group = bracketed(path, '{', '}').filter(|_| path.starts_with('{'));
    match group.and_then(|length| path.get(1..length)) {
        Some(group) => group.split(',').map(|entry| leading_name(entry.trim())).collect(),
        None => vec![leading_name(path)],
    }
}
