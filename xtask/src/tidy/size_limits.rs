//! Checks for files and functions that are too long.
//!
//! These are not the sizes we aim for, which are far smaller; they are where a reader gives up.
//! Tests may be long lists.

use super::finding::TidyFinding;
use super::function_sizes::find_functions;
use super::rust_lexer;
use super::source_tree::{SourceFile, SourceTree};

const MAX_FILE_LINES: usize = 500;
const MAX_FUNCTION_LINES: usize = 90;

/// What may be long, and why: a path, or a path and a function (`a/b.rs::go`).
pub(super) type SizeException = (&'static str, &'static str);

const SIZE_EXCEPTIONS: &[SizeException] = &[
    ("crates/core/src/apply.rs::apply", "one arm for each kind of record"),
    ("crates/core/src/log/record.rs", "one variant for each kind of record"),
    ("crates/cli/src/messages/record.rs::record_message", "one arm for each kind of record"),
    ("crates/store/src/memory.rs", "one method for each operation of the port"),
    ("crates/store/src/postgres.rs", "one method for each operation of the port"),
];

pub(super) fn findings(tree: &SourceTree) -> Vec<TidyFinding> {
    findings_except(tree, SIZE_EXCEPTIONS)
}

/// Finds what is too long and not an exception. An unneeded exception is a finding too, so that the
/// table stays current.
pub(super) fn findings_except(tree: &SourceTree, exceptions: &[SizeException]) -> Vec<TidyFinding> {
    let sources = tree.rust_files().filter(|file| !file.is_test());
    let long: Vec<OversizedItem> = sources.flat_map(find_oversized).collect();
    let listed = |long: &&OversizedItem| exceptions.iter().any(|(what, _)| *what == long.what);
    let needed = |what: &str| long.iter().any(|long| long.what == what);
    let exists = |what: &str| tree.rust_files().any(|file| file.path == exception_path(what));
    let stale = exceptions.iter().filter(|(what, _)| exists(what) && !needed(what));
    let unlisted = long.iter().filter(|long| !listed(long)).map(OversizedItem::to_finding);
    unlisted.chain(stale.map(|(what, _)| stale_exception(what))).collect()
}

/// A file or function over its limit.
struct OversizedItem {
    what: String,
    line: usize,
    lines: usize,
    limit: usize,
}

impl OversizedItem {
    fn to_finding(&self) -> TidyFinding {
        let Self { what, line, lines, limit } = self;
        let says = format!(
            "`{what}` has {lines} lines (over {limit}): move its second responsibility to a place of its own"
        );
        TidyFinding::new(exception_path(what), *line, says)
    }
}

fn find_oversized(file: &SourceFile) -> Vec<OversizedItem> {
    check_file_size(file).into_iter().chain(check_function_sizes(file)).collect()
}

fn check_file_size(file: &SourceFile) -> Option<OversizedItem> {
    let lines = file.text.lines().count();
    let what = file.path.clone();
    (lines > MAX_FILE_LINES).then_some(OversizedItem {
        what,
        line: 1,
        lines,
        limit: MAX_FILE_LINES,
    })
}

fn check_function_sizes(file: &SourceFile) -> Vec<OversizedItem> {
    let code = rust_lexer::code_only(&file.text);
    let long =
        find_functions(&code).into_iter().filter(|function| function.lines > MAX_FUNCTION_LINES);
    let named = long.map(|function| OversizedItem {
        what: format!("{}::{}", file.path, function.name),
        line: function.line,
        lines: function.lines,
        limit: MAX_FUNCTION_LINES,
    });
    named.collect()
}

fn stale_exception(what: &str) -> TidyFinding {
    let says = format!("`{what}` is within the limit again; remove it from tidy/size_limits.rs");
    TidyFinding::new(exception_path(what), 1, says)
}

fn exception_path(what: &str) -> &str {
    what.split("::").next().unwrap_or_default()
}
