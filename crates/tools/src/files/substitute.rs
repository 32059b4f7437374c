//! Finding a text in another and putting a third in its place.

use std::path::Path;

use memchr::memmem;
use windlass_core::outcome::ToolError;

use super::encoding::Endings;
use super::lines::Line;
use super::page::numbered;
use crate::limits::{EDIT_CONTEXT_LINES, EDIT_SHOWN_LINES, MAX_LINE_BYTES};

/// What is to be replaced by what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish<'a> {
    pub(super) old: &'a [u8],
    pub(super) new: &'a [u8],
    pub(super) everywhere: bool,
}

/// A text in which the wish came true.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) text: Vec<u8>,
    /// Where the first replacement begins.
    at: usize,
    /// How long it is.
    length: usize,
    count: usize,
}

/// The old text stands there another number of times than it should.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found(pub(super) usize);

/// Replaces the old text where it stands.
pub(super) fn substitute(text: &[u8], wish: Wish<'_>) -> Result<Done, Found> {
    let places: Vec<usize> = memmem::find_iter(text, wish.old).collect();
    let first = match places.as_slice() {
        [] => return Err(Found(0)),
        [_, _, ..] if !wish.everywhere => return Err(Found(places.len())),
        [first, ..] => *first,
    };
    let mut done = Vec::with_capacity(text.len());
    let mut rest = 0;
    for at in &places {
        done.extend_from_slice(text.get(rest..*at).unwrap_or_default());
        done.extend_from_slice(wish.new);
        rest = at.saturating_add(wish.old.len());
    }
    done.extend_from_slice(text.get(rest..).unwrap_or_default());
    Ok(Done { text: done, at: first, length: wish.new.len(), count: places.len() })
}

impl Done {
    /// What was done, with the lines around the first place.
    pub(super) fn report(&self, path: &Path) -> String {
        let line_of =
            |at: usize| memchr::memchr_iter(b'\n', self.text.get(..at).unwrap_or_default()).count();
        let first = line_of(self.at).saturating_sub(EDIT_CONTEXT_LINES);
        let last = line_of(self.at.saturating_add(self.length)) + EDIT_CONTEXT_LINES;
        let count = (last - first + 1).min(EDIT_SHOWN_LINES);
        let ends = if self.text.ends_with(b"\n") { 1 } else { 0 };
        let end = self.text.len().saturating_sub(ends);
        let lines = self.text.get(..end).unwrap_or_default().split(|byte| *byte == b'\n');
        let shown: String = lines
            .enumerate()
            .skip(first)
            .take(count)
            .map(|(index, line)| numbered(index as u64 + 1, &shortened(line)))
            .collect();
        let times =
            if self.count == 1 { "once".to_owned() } else { format!("{} times", self.count) };
        format!("replaced {times} in {}:\n{shown}", path.display())
    }
}

fn shortened(line: &[u8]) -> Line {
    let (kept, rest) = line.split_at_checked(MAX_LINE_BYTES).unwrap_or((line, &[]));
    Line { kept: kept.to_vec(), omitted: rest.len() as u64 }
}

impl Found {
    /// Why nothing was replaced.
    pub(super) fn problem(&self, path: &Path, endings: Endings) -> ToolError {
        let path = path.display();
        let hint = match (self.0, endings) {
            (0, Endings::Mixed) => {
                "some lines end in CR LF and some in LF: match within a line, or send \\r\\n"
            }
            (0, Endings::Feed | Endings::ReturnFeed) => {
                "read the file again and copy the text exactly, blanks and tabs included"
            }
            _ => "send more of the text around the place, or set replace_all",
        };
        match self.0 {
            0 => ToolError::new("not_found", &format!("old_string is not in {path}"), hint),
            many => ToolError::new(
                "not_unique",
                &format!("old_string stands {many} times in {path}"),
                hint,
            ),
        }
    }
}
