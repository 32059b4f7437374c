//! Unified diff hunks of a change, as `diff -u` shows them, for display and SDK results.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use similar::{ChangeTag, DiffOp, TextDiff};
use windlass_core::message::raw_json::RawJson;

use super::encoding::{LineEndings, TextEncoding};
use crate::limits::{DIFF_TIMEOUT_MS, MAX_PATCH_BYTES, PATCH_CONTEXT_LINES};

/// The line after a last line without a newline.
const NO_FINAL_NEWLINE: &str = "\\ No newline at end of file";

/// A diff hunk: changed lines with some context. Lines are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffHunk {
    /// The first line in the old text.
    pub old_start: usize,
    /// The number of lines in the old text.
    pub old_lines: usize,
    /// The first line in the new text.
    pub new_start: usize,
    /// The number of lines in the new text.
    pub new_lines: usize,
    /// The lines, each after a space, `-` or `+`.
    pub lines: Vec<String>,
}

impl DiffHunk {
    fn byte_count(&self) -> usize {
        self.lines.iter().map(String::len).sum()
    }
}

/// Returns the patch from one content of a file to the other, as it is recorded. If it is too long,
/// whole hunks are left out, so that the rest is correct.
pub(crate) fn encode_patch(before: &[u8], after: &[u8]) -> RawJson {
    let mut remaining = MAX_PATCH_BYTES;
    let fits = |hunk: &DiffHunk| {
        let left = remaining.checked_sub(hunk.byte_count());
        remaining = left.unwrap_or_default();
        left.is_some()
    };
    let hunks: Vec<DiffHunk> = diff_hunks(&decode_text(before), &decode_text(after))
        .into_iter()
        .take_while(fits)
        .collect();
    RawJson::encode(&hunks)
}

/// Decodes the text for display, regardless of its encoding and line endings.
fn decode_text(bytes: &[u8]) -> String {
    let text = TextEncoding::detect(bytes).decode(bytes).unwrap_or_else(|| bytes.to_vec());
    String::from_utf8_lossy(&LineEndings::detect(&text).to_lf(&text)).into_owned()
}

/// Returns the lines that change between two texts, with some context.
///
/// Most changes are small and most files are not: only what lies between the common first and last
/// lines of both texts is compared.
#[must_use]
pub fn diff_hunks(before: &str, after: &str) -> Vec<DiffHunk> {
    let start = common_prefix_bytes(before, after);
    let (old, new) = (before.get(start..).unwrap_or(before), after.get(start..).unwrap_or(after));
    let end = common_suffix_bytes(old, new);
    let old = old.get(..old.len() - end).unwrap_or(old);
    let new = new.get(..new.len() - end).unwrap_or(new);
    let above = before.get(..start).unwrap_or_default().matches('\n').count();
    let diff =
        TextDiff::configure().timeout(Duration::from_millis(DIFF_TIMEOUT_MS)).diff_lines(old, new);
    let groups = diff.grouped_ops(PATCH_CONTEXT_LINES);
    groups.iter().map(|ops| build_hunk(&diff, ops, above)).collect()
}

fn build_hunk(diff: &TextDiff<'_, '_, str>, ops: &[DiffOp], above: usize) -> DiffHunk {
    let start = |range: Option<std::ops::Range<usize>>| range.map_or(0, |range| range.start);
    let mut hunk = DiffHunk {
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
            hunk.lines.push(NO_FINAL_NEWLINE.to_owned());
        }
    }
    hunk
}

/// Returns the bytes of the common first lines, except for the context of the change.
fn common_prefix_bytes(before: &str, after: &str) -> usize {
    let same = before.bytes().zip(after.bytes()).take_while(|(old, new)| old == new).count();
    let same = before.as_bytes().get(..same).unwrap_or_default();
    let mut ends = memchr::memrchr_iter(b'\n', same);
    ends.nth(PATCH_CONTEXT_LINES).map_or(0, |end| end + 1)
}

/// Returns the bytes of the common last lines, except for the context of the change.
fn common_suffix_bytes(before: &str, after: &str) -> usize {
    let both = before.bytes().rev().zip(after.bytes().rev());
    let same = both.take_while(|(old, new)| old == new).count();
    let from = before.len() - same;
    let same = before.as_bytes().get(from..).unwrap_or_default();
    let mut ends = memchr::memchr_iter(b'\n', same);
    // The first newline may end a line whose beginning differs.
    ends.nth(PATCH_CONTEXT_LINES + 1).map_or(0, |end| same.len() - end - 1)
}
