//! What fills the context: the largest pieces, by name and size.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use windlass_core::context::{CompactionPreview, preview_compaction};
use windlass_core::message::content_block::{BlockKind, ContentBlock};
use windlass_core::message::transcript::{SegmentKind, TranscriptSegment};
use windlass_core::run::conversation::{CompactionRequest, Conversation};

use super::excerpt::TextExcerpt;

/// Pieces that are listed.
const MAX_PIECES: usize = 8;

/// Characters of the name of a piece.
const MAX_NAME_CHARS: usize = 60;

/// How full the context is, and of what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ContextUse {
    /// Estimated tokens of the next request.
    pub tokens: u64,
    /// Tokens that a request may have.
    pub usable_tokens: u64,
    /// The used share, in per cent.
    pub percent: u64,
    /// The largest pieces, the largest first.
    pub pieces: Vec<ContextPiece>,
    /// Tokens of all other pieces together.
    pub other_tokens: u64,
}

/// A piece of the context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ContextPiece {
    /// What it is.
    pub name: String,
    /// Its estimated tokens.
    pub tokens: u64,
    /// Whether a compaction may shorten or replace it.
    pub can_be_compacted: bool,
}

/// Measures the context of a conversation; `None` before it is configured.
pub(super) fn measure_context(now: &Conversation) -> Option<ContextUse> {
    let plan: CompactionPreview = preview_compaction(now, CompactionRequest::NotRequested)?;
    let settings = now.active_settings()?;
    let meter = now.current_meter();
    let piece = |name: String, bytes: u64, can_be_compacted| ContextPiece {
        name,
        tokens: meter.estimate(bytes),
        can_be_compacted,
    };
    let system = settings.system.len() as u64;
    let tools = settings.prompt_byte_count(&now.loaded_tools).saturating_sub(system);
    let mut pieces = vec![piece("the system prompt".to_owned(), system, false)];
    pieces.push(piece(format!("the definitions of {} tools", settings.tools.len()), tools, false));
    let segments = now.transcript.segments();
    let last_prompt = segments.iter().rposition(|it| it.kind == SegmentKind::Prompt);
    let mut calls = HashMap::new();
    for (place, segment) in segments.iter().enumerate() {
        let is_pinned = Some(place) == last_prompt || segment.kind == SegmentKind::Memory;
        for (name, bytes) in name_parts(segment, Some(place) == last_prompt, &mut calls) {
            pieces.push(piece(name, bytes, !is_pinned));
        }
    }
    pieces.sort_by_key(|piece| std::cmp::Reverse(piece.tokens));
    pieces.retain(|piece| piece.tokens > 0);
    let other_tokens = pieces.iter().skip(MAX_PIECES).map(|piece| piece.tokens).sum();
    pieces.truncate(MAX_PIECES);
    let (tokens, usable_tokens, percent) = (plan.tokens, plan.usable_tokens, plan.percent);
    Some(ContextUse { tokens, usable_tokens, percent, pieces, other_tokens })
}

/// The parts of a segment with their bytes: results one by one, all else together.
fn name_parts(
    segment: &TranscriptSegment,
    is_last_prompt: bool,
    calls: &mut HashMap<String, String>,
) -> Vec<(String, u64)> {
    let bytes = |block: &ContentBlock| block.raw().text().len() as u64;
    let all = segment.blocks.iter().map(bytes).sum();
    let name = match segment.kind {
        SegmentKind::Prompt if is_last_prompt => "your prompt",
        SegmentKind::Prompt => "an earlier prompt",
        SegmentKind::Note => "a note of the runtime",
        SegmentKind::Summary => "the summary of older messages",
        SegmentKind::Journal => "the journal",
        SegmentKind::Memory => "instruction files",
        SegmentKind::Reply => {
            for call in segment.blocks.iter().filter_map(ContentBlock::as_tool_use) {
                calls.insert(call.id.to_string(), call_name(&call.name, call.input.text()));
            }
            "a reply of the model"
        }
        SegmentKind::Results => {
            let part = |block: &ContentBlock| (result_name(block, calls), bytes(block));
            return segment.blocks.iter().map(part).collect();
        }
    };
    vec![(name.to_owned(), all)]
}

fn result_name(block: &ContentBlock, calls: &HashMap<String, String>) -> String {
    let BlockKind::ToolResult { tool_use_id } = block.kind() else { return "a note".to_owned() };
    match calls.get(&**tool_use_id) {
        Some(call) => format!("the result of {call}"),
        None => "a tool result".to_owned(),
    }
}

/// The tool and the argument that names what the call is about.
pub(super) fn call_name(tool: &str, input: &str) -> String {
    match main_argument(input) {
        Some(main) => {
            let line = TextExcerpt::first_line(&main).text;
            let short: String = line.chars().take(MAX_NAME_CHARS).collect();
            let cut = if short.len() < main.len() { "…" } else { "" };
            format!("{tool} {short}{cut}")
        }
        None => tool.to_owned(),
    }
}

/// The argument that names what a call is about.
pub(super) fn main_argument(input: &str) -> Option<String> {
    let fields: serde_json::Value = serde_json::from_str(input).ok()?;
    let names = ["file_path", "command", "path", "pattern", "url", "query", "description"];
    let found = names.iter().find_map(|name| fields.get(name)?.as_str());
    found.map(str::to_owned)
}
