//! Old messages as plain text: for the summariser, and for the note that replaces them.

use std::fmt::Write;
use std::sync::Arc;

use super::pinned_results::{pin_latest_results, without_pins};
use super::recovery_ladder::RecoveryStep;
use crate::message::content_block::{BlockKind, ContentBlock};
use crate::message::prompt_texts;
use crate::message::transcript::{Role, SegmentKind, TranscriptSegment};
use crate::message::truncate;

/// Characters of one block in the input of a summariser.
const MAX_BLOCK_CHARS: u64 = 4_000;

/// Characters of an earlier summary that is carried over without a new summary.
const MAX_CARRIED_SUMMARY_CHARS: u64 = 8_000;

/// Renders messages as text: each block truncated, the whole truncated in the middle to
/// `limit_chars`. The journal is not included: it is shown again unchanged.
#[must_use]
pub fn render_history<'a>(
    segments: impl Iterator<Item = &'a TranscriptSegment>,
    limit_chars: u64,
) -> String {
    let mut out = String::new();
    for segment in segments.filter(|segment| segment.kind != SegmentKind::Journal) {
        let who = match (segment.role, segment.kind) {
            (Role::Assistant, _) => "assistant",
            (Role::User, SegmentKind::Prompt) => "user",
            (Role::User, SegmentKind::Results) => "results",
            (Role::User, SegmentKind::Summary) => "earlier summary",
            (
                Role::User,
                SegmentKind::Note | SegmentKind::Memory | SegmentKind::Journal | SegmentKind::Reply,
            ) => "runtime",
        };
        for block in segment.blocks.iter() {
            let _ = writeln!(
                out,
                "{who}: {}",
                truncate::truncate_text(&render_block(block), MAX_BLOCK_CHARS)
            );
        }
    }
    truncate::truncate_text(&out, limit_chars).into_owned()
}

fn render_block(block: &ContentBlock) -> Arc<str> {
    match block.kind() {
        BlockKind::Text(text) => text.clone(),
        BlockKind::ToolUse(call) => {
            Arc::from(format!("calls {} with {}", call.name, call.input.text()))
        }
        BlockKind::ToolResult { .. } | BlockKind::Other(_) => Arc::from(block.raw().text()),
    }
}

/// Returns the notes that may replace messages, the fullest first: the summary with the latest
/// successful result of each tool, the summary alone, and one sentence.
#[must_use]
pub fn compaction_notes<'a>(
    rung: RecoveryStep,
    summary: Option<&str>,
    left_out: impl Iterator<Item = &'a TranscriptSegment> + Clone,
) -> [String; 3] {
    let heading = match rung {
        RecoveryStep::DeepPrune => prompt_texts::DEEP_PRUNE_HEADING,
        RecoveryStep::Compact | RecoveryStep::AskHuman => prompt_texts::SUMMARY_HEADING,
    };
    let bare = format!("{heading}\n\n{}", prompt_texts::omitted_segments(left_out.clone().count()));
    let summed_up = match summary {
        Some(summary) => format!("{heading}\n\n{}", summary.trim()),
        None => carry_summary(&bare, left_out.clone()),
    };
    let pinned = pin_latest_results(left_out)
        .into_iter()
        .fold(summed_up.clone(), |note, pin| note + "\n\n" + &pin);
    [pinned, summed_up, bare]
}

/// Keeps the earlier summary if there is no new one.
fn carry_summary<'a>(bare: &str, left_out: impl Iterator<Item = &'a TranscriptSegment>) -> String {
    let earlier = left_out.filter(|segment| segment.kind == SegmentKind::Summary);
    let texts = earlier.flat_map(|segment| segment.blocks.iter().filter_map(ContentBlock::as_text));
    let texts: Vec<&str> = texts.map(without_pins).collect();
    match texts.last() {
        Some(text) => {
            format!("{bare}\n\n{}", truncate::truncate_text(text, MAX_CARRIED_SUMMARY_CHARS))
        }
        None => bare.to_owned(),
    }
}
