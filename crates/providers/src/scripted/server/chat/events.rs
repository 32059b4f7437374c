//! An answer as a stream of chunks.

use serde::Serialize;

use super::super::super::answer::Stop;
use super::super::block::{Block, Call};
use super::super::encoder::Encoder;
use super::super::head::Head;
use super::super::refusal::Refusal;
use super::super::sse::unnamed;
use super::completion::{FINGERPRINT, finish_reason};
use super::error::body;
use super::request::{Order, UsageChunk};
use super::usage::Usage;

/// The chunks of one answer.
pub(in super::super) struct Events {
    order: Order,
    head: Head,
    /// How many calls have begun.
    calls: usize,
}

#[derive(Serialize)]
struct Chunk<'a> {
    id: String,
    object: &'a str,
    created: u64,
    model: &'a str,
    service_tier: &'a str,
    system_fingerprint: &'a str,
    choices: Vec<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
}

#[derive(Serialize)]
struct Choice<'a> {
    index: u32,
    delta: Delta<'a>,
    logprobs: Option<()>,
    finish_reason: Option<&'a str>,
}

#[derive(Default, Serialize)]
struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<[ToolCall<'a>; 1]>,
}

#[derive(Serialize)]
struct ToolCall<'a> {
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<&'a str>,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    arguments: &'a str,
}

impl Events {
    pub(in super::super) fn new(order: Order, head: Head) -> Self {
        Self { order, head, calls: 0 }
    }

    fn chunk<'a>(&'a self, choices: Vec<Choice<'a>>, usage: Option<Usage>) -> Chunk<'a> {
        Chunk {
            id: self.head.id("chatcmpl-"),
            object: "chat.completion.chunk",
            created: self.head.created,
            model: &self.order.model,
            service_tier: "default",
            system_fingerprint: FINGERPRINT,
            choices,
            usage,
        }
    }

    fn delta(&self, out: &mut String, delta: Delta<'_>) {
        let choice = Choice { index: 0, delta, logprobs: None, finish_reason: None };
        unnamed(out, &self.chunk(vec![choice], None));
    }

    fn call(&self, out: &mut String, call: ToolCall<'_>) {
        self.delta(out, Delta { tool_calls: Some([call]), ..Delta::default() });
    }

    /// The place of the open call.
    fn index(&self) -> usize {
        self.calls.saturating_sub(1)
    }

    fn open_call(&mut self, out: &mut String, call: &Call<'_>) {
        self.calls = self.calls.saturating_add(1);
        let function = Function { name: Some(call.name), arguments: "" };
        let (index, id, kind) = (self.index(), Some(call.id), Some("function"));
        self.call(out, ToolCall { index, id, r#type: kind, function });
    }

    fn call_piece(&self, out: &mut String, piece: &str) {
        let function = Function { name: None, arguments: piece };
        self.call(out, ToolCall { index: self.index(), id: None, r#type: None, function });
    }
}

impl Encoder for Events {
    fn begin(&mut self, out: &mut String) {
        let (role, content) = (Some("assistant"), Some(""));
        self.delta(out, Delta { role, content, ..Delta::default() });
    }

    fn open(&mut self, out: &mut String, block: &Block<'_>) {
        match block {
            Block::Call(call) | Block::CutCall(call) => self.open_call(out, call),
            Block::Text(_) | Block::Thinking(_) | Block::Raw(_) => {}
        }
    }

    fn piece(&mut self, out: &mut String, block: &Block<'_>, piece: &str) {
        let piece_of = Some(piece);
        match block {
            Block::Text(_) => self.delta(out, Delta { content: piece_of, ..Delta::default() }),
            Block::Thinking(_) => {
                self.delta(out, Delta { reasoning_content: piece_of, ..Delta::default() });
            }
            Block::Call(_) | Block::CutCall(_) => self.call_piece(out, piece),
            Block::Raw(_) => {}
        }
    }

    /// Nothing marks the end of a block here.
    fn close(&mut self, _: &mut String, _: &Block<'_>) {}

    /// An SSE comment, as some servers send it.
    fn ping(&self, out: &mut String) {
        out.push_str(": ping\n\n");
    }

    fn end(&mut self, out: &mut String, stop: &Stop) {
        let (delta, finish_reason) = (Delta::default(), Some(finish_reason(stop)));
        let choice = Choice { index: 0, delta, logprobs: None, finish_reason };
        unnamed(out, &self.chunk(vec![choice], None));
        if self.order.usage == UsageChunk::Wanted {
            unnamed(out, &self.chunk(Vec::new(), Some(Usage::of(&self.head))));
        }
        out.push_str("data: [DONE]\n\n");
    }

    fn fail(&mut self, out: &mut String, refusal: &Refusal) {
        unnamed(out, &body(refusal));
    }
}
