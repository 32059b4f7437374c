//! Old messages as plain text: for whoever sums them up, and for the note that stands in their place.

use std::fmt::Write;
use std::sync::Arc;

use super::ladder::Rung;
use super::pins::pins;
use crate::block::{Block, Kind};
use crate::cut;
use crate::transcript::{Part, Role, Segment};
use crate::words;

/// Characters of one block in what a summariser reads.
const BLOCK_CHARS: u64 = 4_000;

/// Messages as text, each block cut, the whole cut in the middle to `limit_chars`.
#[must_use]
pub fn history<'a>(segments: impl Iterator<Item = &'a Segment>, limit_chars: u64) -> String {
    let mut out = String::new();
    for segment in segments {
        let who = match (segment.role, segment.part) {
            (Role::Assistant, _) => "assistant",
            (Role::User, Part::Prompt) => "user",
            (Role::User, Part::Results) => "results",
            (Role::User, Part::Note | Part::Memory | Part::Reply) => "runtime",
        };
        for block in segment.blocks.iter() {
            let _ = writeln!(out, "{who}: {}", cut::text(&shown(block), BLOCK_CHARS));
        }
    }
    cut::text(&out, limit_chars).into_owned()
}

fn shown(block: &Block) -> Arc<str> {
    match block.kind() {
        Kind::Text(text) => text.clone(),
        Kind::ToolUse(call) => Arc::from(format!("calls {} with {}", call.name, call.input.text())),
        Kind::ToolResult { .. } | Kind::Other(_) => Arc::from(block.raw().text()),
    }
}

/// The note that stands where `left_out` was: the summary, or a sentence without one, and the
/// latest successful result of each tool.
#[must_use]
pub fn note<'a>(
    rung: Rung,
    summary: Option<&str>,
    left_out: impl Iterator<Item = &'a Segment> + Clone,
) -> String {
    let mut parts = vec![match rung {
        Rung::DeepPrune => words::DEEP_PRUNED.to_owned(),
        Rung::Compact | Rung::AskHuman => words::COMPACTED.to_owned(),
    }];
    parts.push(match summary {
        Some(summary) => summary.trim().to_owned(),
        None => words::left_out(left_out.clone().count()),
    });
    parts.extend(pins(left_out));
    parts.join("\n\n")
}
