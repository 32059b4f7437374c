//! Pinned results: the latest successful result of each tool in the part that is summarised, as
//! plain text, so that long work does not forget what it already found out.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use crate::block::{Block, Kind};
use crate::cut;
use crate::transcript::{Part, Segment};

/// Characters of one pinned result.
const PIN_CHARS: u64 = 2_000;

/// Stands before a pin.
const PIN: &str = "\n\nLast result of ";

/// Tools pinned at most.
const MOST_PINS: usize = 20;

#[derive(Deserialize)]
struct ResultView<'a> {
    #[serde(borrow)]
    content: &'a serde_json::value::RawValue,
    #[serde(default)]
    is_error: bool,
}

/// The latest successful result of each tool in `segments`, as lines of text. What was pinned in an
/// earlier summary stays so until the tool worked again.
#[must_use]
pub fn pins<'a>(segments: impl Iterator<Item = &'a Segment>) -> Vec<String> {
    let mut names: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
    let mut latest: BTreeMap<Arc<str>, String> = BTreeMap::new();
    for (part, block) in segments.flat_map(|s| s.blocks.iter().map(move |block| (s.part, block))) {
        match block.kind() {
            Kind::Text(text) if part == Part::Summary => latest.extend(pinned(text)),
            Kind::ToolUse(call) => {
                names.insert(call.id.clone(), call.name.clone());
            }
            Kind::ToolResult { tool_use_id } => {
                if let (Some(tool), Some(text)) = (names.get(tool_use_id), successful(block)) {
                    latest.insert(tool.clone(), text);
                }
            }
            Kind::Text(_) | Kind::Other(_) => {}
        }
    }
    let line = |(tool, text): (Arc<str>, String)| format!("Last result of {tool}:\n{text}");
    latest.into_iter().take(MOST_PINS).map(line).collect()
}

/// The pins of an earlier summary.
fn pinned(text: &str) -> impl Iterator<Item = (Arc<str>, String)> {
    let pins = text.split(PIN).skip(1).filter_map(|pin| pin.split_once(":\n"));
    pins.map(|(tool, text)| (Arc::from(tool), text.to_owned()))
}

/// An earlier summary alone.
pub(super) fn without_pins(text: &str) -> &str {
    text.split(PIN).next().unwrap_or(text)
}

/// The text of a result that is not an error. The flag tells, never a prefix of the text.
fn successful(block: &Block) -> Option<String> {
    let view: ResultView<'_> = block.raw().read().ok()?;
    let raw = view.content.get();
    let text = serde_json::from_str::<String>(raw).unwrap_or_else(|_| raw.to_owned());
    (!view.is_error && !text.trim().is_empty()).then(|| cut::text(&text, PIN_CHARS).into_owned())
}
