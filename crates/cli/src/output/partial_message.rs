//! Streamed pieces of a reply as the events of the Messages API, in its order. A piece does not say
//! to which block it belongs: a new block starts where text changes to thinking or back, and the
//! complete reply says what else there was.

use serde_json::{Value, json};
use windlass::core::message::reply::{ModelReply, TokenUsage};

use super::sdk_messages::usage_fields;
use crate::setup;

#[cfg(test)]
#[path = "partial_message_tests.rs"]
mod partial_message_tests;

/// The kind of a streamed piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceKind {
    Text,
    Thinking,
}

/// What is written of a reply, in order.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum StreamPart {
    /// An event of the stream.
    Event(Value),
    /// The complete block at this index.
    Block(usize),
}

/// A message that is being streamed.
#[derive(Debug, Default)]
pub(super) struct PartialMessage {
    id: Option<String>,
    begun: bool,
    /// The streamed blocks with their text.
    streamed: Vec<(PieceKind, String)>,
    stopped: usize,
}

impl PieceKind {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Thinking => "thinking",
        }
    }

    fn empty_block(self) -> Value {
        match self {
            Self::Text => json!({"type": "text", "text": ""}),
            Self::Thinking => json!({"type": "thinking", "thinking": "", "signature": ""}),
        }
    }
}

impl PartialMessage {
    /// The id of the message.
    pub(super) fn message_id(&mut self) -> String {
        self.id.get_or_insert_with(|| format!("msg_{}", setup::new_id().replace('-', ""))).clone()
    }

    /// Adds a piece, and returns its events.
    pub(super) fn push_piece(&mut self, kind: PieceKind, chunk: &str, model: &str) -> Vec<Value> {
        let mut events = self.begin_message(model);
        if self.streamed.last().is_none_or(|(latest, _)| *latest != kind) {
            events.extend(self.stop_open_block());
            events.push(content_block_start(self.streamed.len(), kind.empty_block()));
            self.streamed.push((kind, String::new()));
        }
        let at = self.streamed.len().saturating_sub(1);
        if let Some((_, text)) = self.streamed.last_mut() {
            text.push_str(chunk);
        }
        let (name, change) = (kind.name(), format!("{}_delta", kind.name()));
        events.push(content_block_delta(at, json!({"type": change, name: chunk})));
        events
    }

    /// The reply is complete: returns the events of what was not streamed.
    pub(super) fn complete(&mut self, reply: &ModelReply, model: &str) -> Vec<StreamPart> {
        let mut parts: Vec<StreamPart> =
            self.begin_message(model).into_iter().map(StreamPart::Event).collect();
        let mut at = self.streamed.len();
        let mut seen = std::mem::take(&mut self.streamed).into_iter();
        let mut latest = seen.next();
        for (index, block) in reply.blocks.iter().enumerate() {
            let content: Value = block.raw().read().unwrap_or_default();
            if consume_streamed(&mut latest, &content) {
                parts.push(StreamPart::Block(index));
                if latest.as_ref().is_none_or(|(_, rest)| rest.is_empty()) {
                    latest = seen.next();
                }
                continue;
            }
            parts.extend(self.stop_block_before(at).map(StreamPart::Event));
            let whole = whole_block_events(at, &content);
            let last = whole.len().saturating_sub(1);
            for (n, event) in whole.into_iter().enumerate() {
                // A block is written before its stop event.
                if n == last {
                    parts.push(StreamPart::Block(index));
                }
                parts.push(StreamPart::Event(event));
            }
            at += 1;
            self.stopped = at;
        }
        parts.extend(self.stop_block_before(at).map(StreamPart::Event));
        parts.extend(message_end(reply).map(StreamPart::Event));
        *self = Self::default();
        parts
    }

    /// Discards the message: no more pieces will arrive.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    fn begin_message(&mut self, model: &str) -> Vec<Value> {
        if std::mem::replace(&mut self.begun, true) {
            return Vec::new();
        }
        let message = json!({
            "id": self.message_id(),
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": usage_fields(&TokenUsage::default()),
        });
        vec![json!({"type": "message_start", "message": message})]
    }

    fn stop_open_block(&mut self) -> Option<Value> {
        self.stop_block_before(self.streamed.len())
    }

    /// The stop event of the block before this index, if it is still open.
    fn stop_block_before(&mut self, at: usize) -> Option<Value> {
        let open = at.checked_sub(1).filter(|open| self.stopped <= *open)?;
        self.stopped = at;
        Some(content_block_stop(open))
    }
}

/// Returns whether the block was streamed; pieces streamed after it are kept.
fn consume_streamed(streamed: &mut Option<(PieceKind, String)>, content: &Value) -> bool {
    let Some((kind, rest)) = streamed else { return false };
    let text = content.get(kind.name()).and_then(Value::as_str);
    let is_kind = content.get("type").and_then(Value::as_str) == Some(kind.name());
    match text.filter(|_| is_kind).and_then(|text| rest.strip_prefix(text)) {
        Some(after) => {
            *rest = after.to_owned();
            true
        }
        None => false,
    }
}

/// The events of a block that arrives at once: start, content and stop.
fn whole_block_events(at: usize, content: &Value) -> Vec<Value> {
    let kind = content.get("type").and_then(Value::as_str).unwrap_or_default();
    let said = |name: &str| content.get(name).cloned().unwrap_or_default();
    match kind {
        "text" => {
            let change = json!({"type": "text_delta", "text": said("text")});
            vec![
                content_block_start(at, PieceKind::Text.empty_block()),
                content_block_delta(at, change),
                content_block_stop(at),
            ]
        }
        "tool_use" => {
            let mut empty = content.clone();
            if let Some(fields) = empty.as_object_mut() {
                fields.insert("input".to_owned(), json!({}));
            }
            let input = said("input").to_string();
            let change = json!({"type": "input_json_delta", "partial_json": input});
            vec![
                content_block_start(at, empty),
                content_block_delta(at, change),
                content_block_stop(at),
            ]
        }
        _ => vec![content_block_start(at, content.clone()), content_block_stop(at)],
    }
}

fn content_block_start(index: usize, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn content_block_delta(index: usize, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn content_block_stop(index: usize) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn message_end(reply: &ModelReply) -> impl Iterator<Item = Value> + use<> {
    let delta = json!({"stop_reason": reply.stop_reason.as_str(), "stop_sequence": null});
    let usage = usage_fields(&reply.usage);
    let over = json!({"type": "message_delta", "delta": delta, "usage": usage});
    [over, json!({"type": "message_stop"})].into_iter()
}
