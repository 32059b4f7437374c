//! Pinned results: the latest successful result of each tool in the part that is summarised, as
//! plain text, so that long work does not forget what it already found out.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use crate::block::{Block, Kind};
use crate::cut;
use crate::transcript::Segment;

/// Characters of one pinned result.
const PIN_CHARS: u64 = 2_000;

/// Tools pinned at most.
const MOST_PINS: usize = 20;

#[derive(Deserialize)]
struct ResultView<'a> {
    #[serde(borrow)]
    content: &'a serde_json::value::RawValue,
    #[serde(default)]
    is_error: bool,
}

/// The latest successful result of each tool in `segments`, as lines of text.
#[must_use]
pub fn pins<'a>(segments: impl Iterator<Item = &'a Segment>) -> Vec<String> {
    let mut names: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
    let mut latest: BTreeMap<Arc<str>, String> = BTreeMap::new();
    for block in segments.flat_map(|segment| segment.blocks.iter()) {
        match block.kind() {
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

/// The text of a result that is not an error. The flag tells, never a prefix of the text.
fn successful(block: &Block) -> Option<String> {
    let view: ResultView<'_> = block.raw().read().ok()?;
    let raw = view.content.get();
    let text = serde_json::from_str::<String>(raw).unwrap_or_else(|_| raw.to_owned());
    (!view.is_error && !text.trim().is_empty()).then(|| cut::text(&text, PIN_CHARS).into_owned())
}
