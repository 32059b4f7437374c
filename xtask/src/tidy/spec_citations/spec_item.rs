//! Parses promises: `- [x] **STOP-03** text [S3-18]` in `spec/*.md`.

use crate::tidy::finding::TidyFinding;
use crate::tidy::source_tree::{SourceFile, SourceTree};

use super::item_id::is_item_id;

/// Whether a promise is kept already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemState {
    Implemented,
    Promised,
}

/// One promise and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SpecItem {
    pub(super) id: String,
    pub(super) state: ItemState,
    pub(super) path: String,
    pub(super) line: usize,
}

/// All promises, or what is wrong with a line that looks like one.
pub(super) fn find_items(tree: &SourceTree) -> Vec<Result<SpecItem, TidyFinding>> {
    tree.files().filter(|file| is_spec(file)).flat_map(items_in_file).collect()
}

fn is_spec(file: &SourceFile) -> bool {
    file.path.starts_with("spec/") && file.path.ends_with(".md")
}

fn items_in_file(file: &SourceFile) -> Vec<Result<SpecItem, TidyFinding>> {
    let lines = outside_fences(&file.text);
    lines.filter_map(|(line, text)| Some(parse_item(file, line, parse_checkbox(text)?))).collect()
}

/// Numbered lines outside of fenced examples.
fn outside_fences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((index + 1, line))
    })
}

/// The content of the checkbox, and what follows it.
fn parse_checkbox(line: &str) -> Option<(&str, &str)> {
    let (mark, text) = line.trim_start().strip_prefix("- [")?.split_once(']')?;
    (mark.chars().count() <= 1 && !text.starts_with('(')).then_some((mark, text.trim_start()))
}

fn parse_item(
    file: &SourceFile,
    line: usize,
    (mark, text): (&str, &str),
) -> Result<SpecItem, TidyFinding> {
    let finding = |says: &str| TidyFinding::new(&file.path, line, says);
    let state =
        parse_state(mark).ok_or_else(|| finding("a box is `[x]` (implemented) or `[ ]`"))?;
    let id = bold_text(text).filter(|id| is_item_id(id));
    let id = id.ok_or_else(|| finding("an item needs an id: `- [ ] **STOP-03** text [S3-18]`"))?;
    Ok(SpecItem { id: id.to_owned(), state, path: file.path.clone(), line })
}

fn parse_state(mark: &str) -> Option<ItemState> {
    match mark {
        "x" => Some(ItemState::Implemented),
        " " => Some(ItemState::Promised),
        _ => None,
    }
}

fn bold_text(text: &str) -> Option<&str> {
    text.strip_prefix("**")?.split_once("**").map(|(inside, _)| inside)
}
