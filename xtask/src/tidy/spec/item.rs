//! Reading promises: `- [x] **STOP-03** text [S3-18]` in `spec/*.md`.

use crate::tidy::finding::Finding;
use crate::tidy::tree::{File, Tree};

use super::id::is_id;

/// Whether we keep it already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Implemented,
    Promised,
}

/// One promise and where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) state: State,
    pub(super) path: String,
    pub(super) line: usize,
}

/// All promises, or what is wrong with a line that looks like one.
pub(super) fn items(tree: &Tree) -> Vec<Result<Item, Finding>> {
    tree.files().filter(|file| is_spec(file)).flat_map(of_file).collect()
}

fn is_spec(file: &File) -> bool {
    file.path.starts_with("spec/") && file.path.ends_with(".md")
}

fn of_file(file: &File) -> Vec<Result<Item, Finding>> {
    let lines = outside_fences(&file.text);
    lines.filter_map(|(line, text)| Some(item(file, line, checkbox(text)?))).collect()
}

/// Numbered lines that are not an example between two fences.
fn outside_fences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((index + 1, line))
    })
}

/// What is in the box, and what follows it.
fn checkbox(line: &str) -> Option<(&str, &str)> {
    let (mark, text) = line.trim_start().strip_prefix("- [")?.split_once(']')?;
    (mark.chars().count() <= 1 && !text.starts_with('(')).then_some((mark, text.trim_start()))
}

fn item(file: &File, line: usize, (mark, text): (&str, &str)) -> Result<Item, Finding> {
    let finding = |says: &str| Finding::new(&file.path, line, says);
    let state = state(mark).ok_or_else(|| finding("a box is `[x]` (implemented) or `[ ]`"))?;
    let id = bold(text).filter(|id| is_id(id));
    let id = id.ok_or_else(|| finding("an item needs an id: `- [ ] **STOP-03** text [S3-18]`"))?;
    Ok(Item { id: id.to_owned(), state, path: file.path.clone(), line })
}

fn state(mark: &str) -> Option<State> {
    match mark {
        "x" => Some(State::Implemented),
        " " => Some(State::Promised),
        _ => None,
    }
}

fn bold(text: &str) -> Option<&str> {
    text.strip_prefix("**")?.split_once("**").map(|(inside, _)| inside)
}
