//! Text replacement.

use std::path::Path;

use memchr::memmem;
use windlass_core::call::outcome::ToolError;

use super::encoding::LineEndings;
use crate::files::read::bounded_lines::BoundedLine;
use crate::files::read::text_page::numbered_line;
use crate::limits::{EDIT_CONTEXT_LINES, MAX_EDIT_SHOWN_LINES, MAX_LINE_BYTES};

/// The text to replace and its replacement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextReplacement<'a> {
    pub(crate) old: &'a [u8],
    pub(crate) new: &'a [u8],
    pub(crate) replace_all: bool,
}

/// A text after the replacement.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReplacedText {
    pub(crate) text: Vec<u8>,
    /// The offset of the first replacement.
    first_offset: usize,
    /// The length of the replacement.
    length: usize,
    count: usize,
}

/// The old text occurs another number of times than it should.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MatchCountError(pub(crate) usize);

/// Replaces the old text wherever it should be replaced.
pub(crate) fn replace_text(
    text: &[u8],
    wish: TextReplacement<'_>,
) -> Result<ReplacedText, MatchCountError> {
    let places: Vec<usize> = memmem::find_iter(text, wish.old).collect();
    let first = match places.as_slice() {
        [] => return Err(MatchCountError(0)),
        [_, _, ..] if !wish.replace_all => return Err(MatchCountError(places.len())),
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
    Ok(ReplacedText {
        text: done,
        first_offset: first,
        length: wish.new.len(),
        count: places.len(),
    })
}

impl ReplacedText {
    /// Returns the report of the replacement, with the lines around the first one.
    pub(crate) fn report(&self, path: &Path) -> String {
        let line_of =
            |at: usize| memchr::memchr_iter(b'\n', self.text.get(..at).unwrap_or_default()).count();
        let first = line_of(self.first_offset).saturating_sub(EDIT_CONTEXT_LINES);
        let last = line_of(self.first_offset.saturating_add(self.length)) + EDIT_CONTEXT_LINES;
        let count = (last - first + 1).min(MAX_EDIT_SHOWN_LINES);
        let ends = if self.text.ends_with(b"\n") { 1 } else { 0 };
        let end = self.text.len().saturating_sub(ends);
        let lines = self.text.get(..end).unwrap_or_default().split(|byte| *byte == b'\n');
        let text: String = lines
            .enumerate()
            .skip(first)
            .take(count)
            .map(|(index, line)| numbered_line(index as u64 + 1, &truncate_line(line)))
            .collect();
        let times =
            if self.count == 1 { "once".to_owned() } else { format!("{} times", self.count) };
        format!("replaced {times} in {}:\n{text}", path.display())
    }
}

fn truncate_line(line: &[u8]) -> BoundedLine {
    let (kept, rest) = line.split_at_checked(MAX_LINE_BYTES).unwrap_or((line, &[]));
    BoundedLine { bytes: kept.to_vec(), omitted: rest.len() as u64 }
}

impl MatchCountError {
    /// Returns the error that says why nothing was replaced.
    pub(crate) fn to_tool_error(&self, path: &Path, endings: LineEndings) -> ToolError {
        let path = path.display();
        let hint = match (self.0, endings) {
            (0, LineEndings::Mixed) => {
                "some lines end in CR LF and some in LF: match within a line, or send \\r\\n"
            }
            (0, LineEndings::Lf | LineEndings::CrLf) => {
                "read the file again and copy the text exactly, including spaces and tabs"
            }
            _ => "include more surrounding text, or set replace_all",
        };
        match self.0 {
            0 => ToolError::new("not_found", &format!("old_string is not in {path}"), hint),
            many => ToolError::new(
                "not_unique",
                &format!("old_string occurs {many} times in {path}"),
                hint,
            ),
        }
    }
}
