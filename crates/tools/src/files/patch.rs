//! What a change of a file takes and brings, line by line, for whoever watches: hunks as `diff -u`
//! shows them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use similar::{ChangeTag, DiffOp, TextDiff};
use windlass_core::raw::Raw;

use super::encoding::{Encoding, Endings};
use crate::limits::{MAX_PATCH_BYTES, PATCH_CONTEXT_LINES, PATCH_MS};

/// What stands behind the last line of a text that does not end it.
const UNENDED: &str = "\\ No newline at end of file";

/// Lines that change, with some around them. Lines are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// Where it begins in the old text.
    pub old_start: usize,
    /// How many lines of the old text it covers.
    pub old_lines: usize,
    /// Where it begins in the new text.
    pub new_start: usize,
    /// How many lines of the new text it covers.
    pub new_lines: usize,
    /// The lines, each behind a blank, `-` or `+`.
    pub lines: Vec<String>,
}

impl Hunk {
    fn bytes(&self) -> usize {
        self.lines.iter().map(String::len).sum()
    }
}

/// The patch from one content of a file to the other, as it is recorded. What would make it too
/// long is left out by whole hunks, so that what stands there is true.
pub(super) fn detail(before: &[u8], after: &[u8]) -> Raw {
    let mut room = MAX_PATCH_BYTES;
    let fits = |hunk: &Hunk| {
        let left = room.checked_sub(hunk.bytes());
        room = left.unwrap_or_default();
        left.is_some()
    };
    let hunks: Vec<Hunk> =
        hunks(&text(before), &text(after)).into_iter().take_while(fits).collect();
    Raw::encode(&hunks)
}

/// The text as people see it: how it is spelled and how its lines end is not theirs to care about.
fn text(bytes: &[u8]) -> String {
    let text = Encoding::of(bytes).decode(bytes).unwrap_or_else(|| bytes.to_vec());
    String::from_utf8_lossy(&Endings::of(&text).plain(&text)).into_owned()
}

/// The lines that change between two texts, with some around them.
///
/// Most changes are small and most files are not: only what lies between the lines that both texts
/// begin and end with is compared.
#[must_use]
pub fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    let start = same_beginning(before, after);
    let (old, new) = (before.get(start..).unwrap_or(before), after.get(start..).unwrap_or(after));
    let end = same_end(old, new);
    let old = old.get(..old.len() - end).unwrap_or(old);
    let new = new.get(..new.len() - end).unwrap_or(new);
    let above = before.get(..start).unwrap_or_default().matches('\n').count();
    let diff = TextDiff::configure().timeout(Duration::from_millis(PATCH_MS)).diff_lines(old, new);
    let groups = diff.grouped_ops(PATCH_CONTEXT_LINES);
    groups.iter().map(|ops| hunk(&diff, ops, above)).collect()
}

fn hunk(diff: &TextDiff<'_, '_, str>, ops: &[DiffOp], above: usize) -> Hunk {
    let start = |range: Option<std::ops::Range<usize>>| range.map_or(0, |range| range.start);
    let mut hunk = Hunk {
        old_start: above + start(ops.first().map(DiffOp::old_range)) + 1,
        old_lines: ops.iter().map(|op| op.old_range().len()).sum(),
        new_start: above + start(ops.first().map(DiffOp::new_range)) + 1,
        new_lines: ops.iter().map(|op| op.new_range().len()).sum(),
        lines: Vec::new(),
    };
    for change in ops.iter().flat_map(|op| diff.iter_changes(op)) {
        let sign = match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        let line = change.value();
        hunk.lines.push(format!("{sign}{}", line.strip_suffix('\n').unwrap_or(line)));
        if !line.ends_with('\n') {
            hunk.lines.push(UNENDED.to_owned());
        }
    }
    hunk
}

/// Bytes of the lines that both begin with, but for those that stand around the change.
fn same_beginning(before: &str, after: &str) -> usize {
    let same = before.bytes().zip(after.bytes()).take_while(|(old, new)| old == new).count();
    let same = before.as_bytes().get(..same).unwrap_or_default();
    let mut ends = memchr::memrchr_iter(b'\n', same);
    ends.nth(PATCH_CONTEXT_LINES).map_or(0, |end| end + 1)
}

/// Bytes of the lines that both end with, but for those that stand around the change.
fn same_end(before: &str, after: &str) -> usize {
    let both = before.bytes().rev().zip(after.bytes().rev());
    let same = both.take_while(|(old, new)| old == new).count();
    let from = before.len() - same;
    let same = before.as_bytes().get(from..).unwrap_or_default();
    let mut ends = memchr::memchr_iter(b'\n', same);
    // The first line end may end a line whose beginning differs.
    ends.nth(PATCH_CONTEXT_LINES + 1).map_or(0, |end| same.len() - end - 1)
}
