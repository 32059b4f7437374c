//! Replies for every row of the stop table.

use std::sync::Arc;

use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::reply::{ModelReply, StopReason, TokenUsage, TruncatedBlock};
use windlass_core::message::request::ModelRequest;

use super::blocks;
use crate::world::seeded_rng::SeededRng;
use crate::world::world_plan::ModelBehaviour;

pub(super) fn draw(
    rng: &mut SeededRng,
    mood: ModelBehaviour,
    lane: &str,
    request: &ModelRequest,
) -> ModelReply {
    let odd = rng.chance(mood.odd_percent);
    let calls = if rng.chance(mood.tools_percent) { rng.within(1, 4) } else { 0 };
    let blocks = content(rng, lane, request.model_call, calls, odd);
    let stop_reason = stop_reason(rng, calls, odd);
    let stop_sequence = (stop_reason == StopReason::StopSequence)
        .then(|| Arc::from(rng.pick(&["\nUser:", "\n---END---", "unregistered"])));
    let truncated_block = (odd && stop_reason == StopReason::MaxTokens && rng.chance(50))
        .then(|| TruncatedBlock { name: "put".into(), partial: r#"{"on":"a"#.into() });
    ModelReply {
        blocks,
        truncated_block,
        stop_reason,
        stop_sequence,
        usage: usage(rng, mood, request),
        envelope: None,
    }
}

/// Returns the reply of a summariser, a classifier or a judge.
pub(super) fn side_reply(
    rng: &mut SeededRng,
    mood: ModelBehaviour,
    request: &ModelRequest,
) -> ModelReply {
    let junk = "junk ".repeat(5_000);
    let text = match rng.below(11) {
        0..=2 => "allow",
        3 => "deny",
        4 => "ask",
        5 => "",
        6 => "It may run, I should think.",
        7 | 8 => "yes",
        9 => "no: something is missing",
        _ => &junk,
    };
    ModelReply {
        blocks: vec![ContentBlock::text(text)],
        truncated_block: None,
        stop_reason: StopReason::EndTurn,
        stop_sequence: None,
        usage: usage(rng, mood, request),
        envelope: None,
    }
}

fn content(rng: &mut SeededRng, lane: &str, ask: u32, calls: u64, odd: bool) -> Vec<ContentBlock> {
    let mut content = Vec::new();
    if odd && rng.chance(15) && calls == 0 {
        return Vec::new();
    }
    if odd && rng.chance(40) {
        content.push(blocks::other(rng, lane));
    }
    if !odd || rng.chance(70) {
        content.push(blocks::speech(rng, lane, odd));
    }
    for call in 0..calls {
        let same = odd && rng.chance(20);
        let id = if same { "again".to_owned() } else { format!("{lane}-t{ask}-{call}") };
        content.push(blocks::call(rng, lane, &id, odd));
    }
    if odd && rng.chance(20) {
        content.push(blocks::other(rng, lane));
    }
    content.into_iter().map(ContentBlock::new).collect()
}

fn stop_reason(rng: &mut SeededRng, calls: u64, odd: bool) -> StopReason {
    if !odd {
        return if calls > 0 { StopReason::ToolUse } else { StopReason::EndTurn };
    }
    let reason = rng.pick(&[
        "end_turn",
        "tool_use",
        "tool_use",
        "max_tokens",
        "max_tokens",
        "stop_sequence",
        "pause_turn",
        "refusal",
        "model_context_window_exceeded",
        "not_yet_invented",
    ]);
    StopReason::from(reason)
}

/// Returns the usage. Honest usage is what was reserved or less.
fn usage(rng: &mut SeededRng, mood: ModelBehaviour, request: &ModelRequest) -> TokenUsage {
    if !mood.honest_usage && rng.chance(20) {
        let absurd = rng.pick(&[u64::MAX, 1 << 40, 0]);
        return TokenUsage { input_tokens: absurd, output_tokens: absurd, ..TokenUsage::default() };
    }
    let input = (request.transcript.byte_count()
        + request.settings.prompt_byte_count(&request.loaded_tools))
        / 4;
    let output_tokens = rng.within(1, request.max_tokens.clamp(1, 300));
    TokenUsage { input_tokens: input, output_tokens, ..TokenUsage::default() }
}
