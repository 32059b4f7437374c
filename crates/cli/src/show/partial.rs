//! Pieces of a reply as the events of a streamed message, in the order the API has them. A piece
//! does not say which block it belongs to: a new block begins where text turns into thought or back,
//! and the whole reply says what else there was.

use serde_json::{Value, json};
use windlass::core::reply::{Reply, Usage};

use super::messages::usage;
use crate::setup;

#[cfg(test)]
#[path = "partial_tests.rs"]
mod partial_tests;

/// What a piece is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Thinking,
}

/// What is written of a reply, in order.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// An event of the stream.
    Event(Value),
    /// The whole block at this place.
    Block(usize),
}

/// A message on its way.
#[derive(Debug, Default)]
pub(super) struct Partial {
    id: Option<String>,
    begun: bool,
    /// What was streamed, a block each.
    streamed: Vec<(Kind, String)>,
    stopped: usize,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Thinking => "thinking",
        }
    }

    fn start(self) -> Value {
        match self {
            Self::Text => json!({"type": "text", "text": ""}),
            Self::Thinking => json!({"type": "thinking", "thinking": "", "signature": ""}),
        }
    }
}

impl Partial {
    /// The id of the message.
    pub(super) fn id(&mut self) -> String {
        self.id.get_or_insert_with(|| format!("msg_{}", setup::new_id().replace('-', ""))).clone()
    }

    /// A piece arrives.
    pub(super) fn piece(&mut self, kind: Kind, piece: &str, model: &str) -> Vec<Value> {
        let mut events = self.begin(model);
        if self.streamed.last().is_none_or(|(latest, _)| *latest != kind) {
            events.extend(self.stop());
            events.push(started(self.streamed.len(), kind.start()));
            self.streamed.push((kind, String::new()));
        }
        let at = self.streamed.len().saturating_sub(1);
        if let Some((_, text)) = self.streamed.last_mut() {
            text.push_str(piece);
        }
        let (name, change) = (kind.name(), format!("{}_delta", kind.name()));
        events.push(delta(at, json!({"type": change, name: piece})));
        events
    }

    /// The whole reply is there: what was not streamed follows at once.
    pub(super) fn replied(&mut self, reply: &Reply, model: &str) -> Vec<Part> {
        let mut parts: Vec<Part> = self.begin(model).into_iter().map(Part::Event).collect();
        let mut at = self.streamed.len();
        let mut seen = std::mem::take(&mut self.streamed).into_iter();
        let mut latest = seen.next();
        for (place, block) in reply.blocks.iter().enumerate() {
            let content: Value = block.raw().read().unwrap_or_default();
            if take(&mut latest, &content) {
                parts.push(Part::Block(place));
                if latest.as_ref().is_none_or(|(_, rest)| rest.is_empty()) {
                    latest = seen.next();
                }
                continue;
            }
            parts.extend(self.stopped_before(at).map(Part::Event));
            let whole = whole(at, &content);
            let last = whole.len().saturating_sub(1);
            for (n, event) in whole.into_iter().enumerate() {
                // A block is told before it is said that it is over.
                if n == last {
                    parts.push(Part::Block(place));
                }
                parts.push(Part::Event(event));
            }
            at += 1;
            self.stopped = at;
        }
        parts.extend(self.stopped_before(at).map(Part::Event));
        parts.extend(ended(reply).map(Part::Event));
        *self = Self::default();
        parts
    }

    /// Nothing more will come of it.
    pub(super) fn abandon(&mut self) {
        *self = Self::default();
    }

    fn begin(&mut self, model: &str) -> Vec<Value> {
        if std::mem::replace(&mut self.begun, true) {
            return Vec::new();
        }
        let message = json!({
            "id": self.id(),
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": usage(&Usage::default()),
        });
        vec![json!({"type": "message_start", "message": message})]
    }

    fn stop(&mut self) -> Option<Value> {
        self.stopped_before(self.streamed.len())
    }

    /// The block before this place is over, if it was not.
    fn stopped_before(&mut self, at: usize) -> Option<Value> {
        let open = at.checked_sub(1).filter(|open| self.stopped <= *open)?;
        self.stopped = at;
        Some(stopped(open))
    }
}

/// Whether the block was streamed; what was streamed after it stays.
fn take(streamed: &mut Option<(Kind, String)>, content: &Value) -> bool {
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

/// A block that comes at once: begun, said and over.
fn whole(at: usize, content: &Value) -> Vec<Value> {
    let kind = content.get("type").and_then(Value::as_str).unwrap_or_default();
    let said = |name: &str| content.get(name).cloned().unwrap_or_default();
    match kind {
        "text" => {
            let change = json!({"type": "text_delta", "text": said("text")});
            vec![started(at, Kind::Text.start()), delta(at, change), stopped(at)]
        }
        "tool_use" => {
            let mut empty = content.clone();
            if let Some(fields) = empty.as_object_mut() {
                fields.insert("input".to_owned(), json!({}));
            }
            let input = said("input").to_string();
            let change = json!({"type": "input_json_delta", "partial_json": input});
            vec![started(at, empty), delta(at, change), stopped(at)]
        }
        _ => vec![started(at, content.clone()), stopped(at)],
    }
}

fn started(index: usize, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: usize, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stopped(index: usize) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn ended(reply: &Reply) -> impl Iterator<Item = Value> + use<> {
    let delta = json!({"stop_reason": reply.stop_reason.as_str(), "stop_sequence": null});
    let usage = usage(&reply.usage);
    let over = json!({"type": "message_delta", "delta": delta, "usage": usage});
    [over, json!({"type": "message_stop"})].into_iter()
}
