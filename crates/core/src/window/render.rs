//! Old messages as plain text: for whoever sums them up, and for the note that stands in their place.

use std::fmt::Write;
use std::sync::Arc;

use super::ladder::Rung;
use super::pins::{pins, without_pins};
use crate::block::{Block, Kind};
use crate::cut;
use crate::transcript::{Part, Role, Segment};
use crate::words;

/// Characters of one block in what a summariser reads.
const BLOCK_CHARS: u64 = 4_000;

/// Characters of an earlier summary that nobody sums up again.
const CARRIED_CHARS: u64 = 8_000;

/// Messages as text, each block cut, the whole cut in the middle to `limit_chars`. The journal is
/// not among them: it is shown again as it is.
#[must_use]
pub fn history<'a>(segments: impl Iterator<Item = &'a Segment>, limit_chars: u64) -> String {
    let mut out = String::new();
    for segment in segments.filter(|segment| segment.part != Part::Journal) {
        let who = match (segment.role, segment.part) {
            (Role::Assistant, _) => "assistant",
            (Role::User, Part::Prompt) => "user",
            (Role::User, Part::Results) => "results",
            (Role::User, Part::Summary) => "summary of what was before",
            (Role::User, Part::Note | Part::Memory | Part::Journal | Part::Reply) => "runtime",
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

/// What may stand where messages were, the fullest first: what was summed up with the latest
/// successful result of each tool, that alone, and one sentence.
#[must_use]
pub fn notes<'a>(
    rung: Rung,
    summary: Option<&str>,
    left_out: impl Iterator<Item = &'a Segment> + Clone,
) -> [String; 3] {
    let heading = match rung {
        Rung::DeepPrune => words::DEEP_PRUNED,
        Rung::Compact | Rung::AskHuman => words::COMPACTED,
    };
    let bare = format!("{heading}\n\n{}", words::left_out(left_out.clone().count()));
    let summed_up = match summary {
        Some(summary) => format!("{heading}\n\n{}", summary.trim()),
        None => carried(&bare, left_out.clone()),
    };
    let pinned =
        pins(left_out).into_iter().fold(summed_up.clone(), |note, pin| note + "\n\n" + &pin);
    [pinned, summed_up, bare]
}

/// Without a new summary the one before is kept.
fn carried<'a>(bare: &str, left_out: impl Iterator<Item = &'a Segment>) -> String {
    let earlier = left_out.filter(|segment| segment.part == Part::Summary);
    let texts = earlier.flat_map(|segment| segment.blocks.iter().filter_map(Block::as_text));
    let texts: Vec<&str> = texts.map(without_pins).collect();
    match texts.last() {
        Some(text) => format!("{bare}\n\n{}", cut::text(text, CARRIED_CHARS)),
        None => bare.to_owned(),
    }
}
