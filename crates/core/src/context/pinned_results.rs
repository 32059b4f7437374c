//! Pinned results: the latest successful result of each tool in the summarised part, as plain text.
//! They survive a compaction, so that long work does not forget what it already found out.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use crate::message::content_block::{BlockKind, ContentBlock};
use crate::message::transcript::{SegmentKind, TranscriptSegment};
use crate::message::truncate;

/// Characters of one pinned result.
const MAX_PIN_CHARS: u64 = 2_000;

/// Heading before a pinned result.
const PIN_HEADING: &str = "\n\nLast result of ";

/// Maximum number of tools with a pinned result.
const MAX_PINS: usize = 20;

#[derive(Deserialize)]
struct PinnedResultView<'a> {
    #[serde(borrow)]
    content: &'a serde_json::value::RawValue,
    #[serde(default)]
    is_error: bool,
}

/// Returns the latest successful result of each tool in `segments`, as lines of text. A result that
/// was pinned in an earlier summary stays pinned until the tool succeeds again.
#[must_use]
pub fn pin_latest_results<'a>(
    segments: impl Iterator<Item = &'a TranscriptSegment>,
) -> Vec<String> {
    let mut names: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
    let mut latest: BTreeMap<Arc<str>, String> = BTreeMap::new();
    for (part, block) in segments.flat_map(|s| s.blocks.iter().map(move |block| (s.kind, block))) {
        match block.kind() {
            BlockKind::Text(text) if part == SegmentKind::Summary => {
                latest.extend(pins_in_summary(text));
            }
            BlockKind::ToolUse(call) => {
                names.insert(call.id.clone(), call.name.clone());
            }
            BlockKind::ToolResult { tool_use_id } => {
                if let (Some(tool), Some(text)) = (names.get(tool_use_id), successful_text(block)) {
                    latest.insert(tool.clone(), text);
                }
            }
            BlockKind::Text(_) | BlockKind::Other(_) => {}
        }
    }
    let line = |(tool, text): (Arc<str>, String)| format!("Last result of {tool}:\n{text}");
    latest.into_iter().take(MAX_PINS).map(line).collect()
}

/// Returns the pinned results of an earlier summary.
fn pins_in_summary(text: &str) -> impl Iterator<Item = (Arc<str>, String)> {
    let pins = text.split(PIN_HEADING).skip(1).filter_map(|pin| pin.split_once(":\n"));
    pins.map(|(tool, text)| (Arc::from(tool), text.to_owned()))
}

/// Returns an earlier summary without its pinned results.
pub(super) fn without_pins(text: &str) -> &str {
    text.split(PIN_HEADING).next().unwrap_or(text)
}

/// Returns the text of a result that is not an error. The error flag decides, never a prefix of the
/// text.
fn successful_text(block: &ContentBlock) -> Option<String> {
    let view: PinnedResultView<'_> = block.raw().read().ok()?;
    let raw = view.content.get();
    let text = serde_json::from_str::<String>(raw).unwrap_or_else(|_| raw.to_owned());
    (!view.is_error && !text.trim().is_empty())
        .then(|| truncate::truncate_text(&text, MAX_PIN_CHARS).into_owned())
}
