//! Files and functions that have learned a second thing.
//!
//! These are not the sizes we aim for, which are far smaller; they are where a reader gives up.
//! Tests may be long lists.

use super::finding::Finding;
use super::functions::functions;
use super::rust;
use super::tree::{File, Tree};

const FILE_LINES: usize = 500;
const FUNCTION_LINES: usize = 90;

/// What may be long, and why: a path, or a path and a function (`a/b.rs::go`).
pub(super) type Exception = (&'static str, &'static str);

const EXCEPTIONS: &[Exception] = &[];

pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    findings_except(tree, EXCEPTIONS)
}

/// An exception that is no longer needed is a finding too, so the table cannot go stale.
pub(super) fn findings_except(tree: &Tree, exceptions: &[Exception]) -> Vec<Finding> {
    let sources = tree.rust_files().filter(|file| !file.is_test());
    let long: Vec<Long> = sources.flat_map(long_in).collect();
    let listed = |long: &&Long| exceptions.iter().any(|(what, _)| *what == long.what);
    let needed = |what: &str| long.iter().any(|long| long.what == what);
    let stale = exceptions.iter().filter(|(what, _)| !needed(what));
    let unlisted = long.iter().filter(|long| !listed(long)).map(Long::finding);
    unlisted.chain(stale.map(|(what, _)| no_longer_long(what))).collect()
}

/// A file or function over its limit.
struct Long {
    what: String,
    line: usize,
    lines: usize,
    limit: usize,
}

impl Long {
    fn finding(&self) -> Finding {
        let Self { what, line, lines, limit } = self;
        let says = format!(
            "`{what}` has {lines} lines (over {limit}): give the second thing it does a home"
        );
        Finding::new(path_of(what), *line, says)
    }
}

fn long_in(file: &File) -> Vec<Long> {
    long_file(file).into_iter().chain(long_functions(file)).collect()
}

fn long_file(file: &File) -> Option<Long> {
    let lines = file.text.lines().count();
    let what = file.path.clone();
    (lines > FILE_LINES).then_some(Long { what, line: 1, lines, limit: FILE_LINES })
}

fn long_functions(file: &File) -> Vec<Long> {
    let code = rust::code(&file.text);
    let long = functions(&code).into_iter().filter(|function| function.lines > FUNCTION_LINES);
    let named = long.map(|function| Long {
        what: format!("{}::{}", file.path, function.name),
        line: function.line,
        lines: function.lines,
        limit: FUNCTION_LINES,
    });
    named.collect()
}

fn no_longer_long(what: &str) -> Finding {
    let says = format!("`{what}` is not long any more: remove it from tidy/length.rs");
    Finding::new(path_of(what), 1, says)
}

fn path_of(what: &str) -> &str {
    what.split("::").next().unwrap_or_default()
}
