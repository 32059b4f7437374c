//! Reading which promises a test proves: a line `spec:` and ids, in a comment or a scenario.

use crate::tidy::finding::Finding;
use crate::tidy::rust;
use crate::tidy::tree::{File, Tree};

use super::id::is_id;

/// One promise named at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Citation {
    pub(super) id: String,
    pub(super) path: String,
    pub(super) line: usize,
}

/// All citations, or what is wrong with a line that looks like one.
pub(super) fn citations(tree: &Tree) -> Vec<Result<Citation, Finding>> {
    tree.files().flat_map(of_file).collect()
}

fn of_file(file: &File) -> Vec<Result<Citation, Finding>> {
    let text = citing_text(file);
    let lines = text.lines().enumerate();
    let listed = lines.filter_map(|(index, line)| Some((index + 1, list_in(line)?)));
    listed.flat_map(|(line, list)| ids(file, line, list)).collect()
}

/// Comments of code, and scenarios whole: nothing else can prove anything.
fn citing_text(file: &File) -> String {
    match file {
        _ if file.is_rust() => rust::comments(&file.text),
        _ if is_scenario(file) => file.text.clone(),
        _ => String::new(),
    }
}

fn is_scenario(file: &File) -> bool {
    file.path.starts_with("scenarios/") && file.path.ends_with(".md")
}

/// What follows `spec:` when the line begins with it, the marks of comments and lists aside.
fn list_in(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "/!*<->".contains(c));
    let list = line.strip_prefix("spec:")?;
    Some(list.trim_end_matches(|c: char| c.is_whitespace() || "*/->.".contains(c)))
}

fn ids(file: &File, line: usize, list: &str) -> Vec<Result<Citation, Finding>> {
    list.split(',').map(|id| citation(file, line, id.trim())).collect()
}

fn citation(file: &File, line: usize, id: &str) -> Result<Citation, Finding> {
    if is_id(id) {
        return Ok(Citation { id: id.to_owned(), path: file.path.clone(), line });
    }
    let says =
        format!("`{id}` is not an id: after `spec:` come ids only, such as STOP-03, STOP-04");
    Err(Finding::new(&file.path, line, says))
}
