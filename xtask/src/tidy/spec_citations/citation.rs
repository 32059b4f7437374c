//! Parses which promises a test proves: a line `spec:` and ids, in a comment of Rust or of a test in
//! TypeScript or Python, or in a scenario.

use crate::tidy::finding::TidyFinding;
use crate::tidy::rust_lexer;
use crate::tidy::source_tree::{SourceFile, SourceTree};

use super::item_id::is_item_id;

/// One citation of a promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SpecCitation {
    pub(super) id: String,
    pub(super) path: String,
    pub(super) line: usize,
}

/// All citations, or what is wrong with a line that looks like one.
pub(super) fn find_citations(tree: &SourceTree) -> Vec<Result<SpecCitation, TidyFinding>> {
    tree.files().flat_map(citations_in_file).collect()
}

fn citations_in_file(file: &SourceFile) -> Vec<Result<SpecCitation, TidyFinding>> {
    let text = citable_text(file);
    let lines = text.lines().enumerate();
    let listed = lines.filter_map(|(index, line)| Some((index + 1, citation_list(line)?)));
    listed.flat_map(|(line, list)| parse_ids(file, line, list)).collect()
}

/// The text that may have citations: comments of code and of tests, and complete scenarios.
fn citable_text(file: &SourceFile) -> String {
    match file {
        _ if file.is_rust() => rust_lexer::comments_only(&file.text),
        _ if is_scenario(file) => file.text.clone(),
        _ if is_browser_test(file) => line_comments(&file.text, "//"),
        _ if is_python_test(file) => line_comments(&file.text, "#"),
        _ => String::new(),
    }
}

fn is_scenario(file: &SourceFile) -> bool {
    file.path.starts_with("scenarios/") && file.path.ends_with(".md")
}

/// Returns whether the file is a test in TypeScript, such as those of the dashboard.
fn is_browser_test(file: &SourceFile) -> bool {
    file.path.starts_with("tests/") && file.path.ends_with(".test.ts")
}

/// Returns whether the file is a test in Python, such as those of the Agent SDK.
fn is_python_test(file: &SourceFile) -> bool {
    let name = file.path.rsplit('/').next().unwrap_or_default();
    file.path.starts_with("tests/") && name.starts_with("test_") && name.ends_with(".py")
}

/// The text with empty lines in place of those that are no comment.
fn line_comments(text: &str, mark: &str) -> String {
    let comment = |line: &str| line.trim_start().starts_with(mark).then(|| line.to_owned());
    let lines: Vec<String> = text.lines().map(|line| comment(line).unwrap_or_default()).collect();
    lines.join("\n")
}

/// The text after `spec:` if the line starts with it, apart from the marks of comments and lists.
fn citation_list(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "/!*<->#".contains(c));
    let list = line.strip_prefix("spec:")?;
    Some(list.trim_end_matches(|c: char| c.is_whitespace() || "*/->.".contains(c)))
}

fn parse_ids(file: &SourceFile, line: usize, list: &str) -> Vec<Result<SpecCitation, TidyFinding>> {
    list.split(',').map(|id| parse_citation(file, line, id.trim())).collect()
}

fn parse_citation(file: &SourceFile, line: usize, id: &str) -> Result<SpecCitation, TidyFinding> {
    if is_item_id(id) {
        return Ok(SpecCitation { id: id.to_owned(), path: file.path.clone(), line });
    }
    let says =
        format!("`{id}` is not an id: after `spec:` come ids only, such as STOP-03, STOP-04");
    Err(TidyFinding::new(&file.path, line, says))
}
