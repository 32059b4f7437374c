//! An answer as one message.

use serde::Serialize;
use serde_json::value::RawValue;
use windlass_core::raw::sha256_hex;

use super::super::super::answer::{Answer, Stop};
use super::super::block::{Block, Call, blocks};
use super::super::head::Head;
use super::super::sse::json;
use super::request::Order;
use super::usage::Usage;

/// A message, whole or about to begin.
#[derive(Serialize)]
pub(super) struct Message<'a> {
    id: String,
    r#type: &'a str,
    role: &'a str,
    model: &'a str,
    content: Vec<ContentBlock<'a>>,
    stop_reason: Option<&'a str>,
    stop_sequence: Option<&'a str>,
    usage: Usage,
}

/// A content block. The raw one is written as it stands.
pub(super) enum ContentBlock<'a> {
    Text(&'a str),
    Thinking { thinking: &'a str, signature: &'a str },
    ToolUse { id: &'a str, name: &'a str, input: Box<RawValue> },
    Raw(Box<RawValue>),
}

/// The message of a whole answer.
pub(in super::super) fn whole(order: &Order, head: Head, answer: &Answer) -> String {
    let blocks: Vec<(Block<'_>, String)> =
        blocks(&answer.steps).map(|block| (block, signature(&block))).collect();
    let content = blocks.iter().map(|(block, signature)| complete(block, signature)).collect();
    let Stop { reason, sequence } = &answer.stop;
    json(&Message {
        content,
        stop_reason: Some(reason),
        stop_sequence: sequence.as_deref(),
        usage: Usage::at_end(&head),
        ..empty(order, &head)
    })
}

/// A message without anything in it yet.
pub(super) fn empty<'a>(order: &'a Order, head: &Head) -> Message<'a> {
    Message {
        id: head.id("msg_"),
        r#type: "message",
        role: "assistant",
        model: &order.model,
        content: Vec::new(),
        stop_reason: None,
        stop_sequence: None,
        usage: Usage::at_start(head),
    }
}

/// A thought's signature: the same thought, the same signature.
pub(super) fn signature(block: &Block<'_>) -> String {
    match block {
        Block::Thinking(thought) => sha256_hex(thought.as_bytes()),
        Block::Text(_) | Block::Call(_) | Block::CutCall(_) | Block::Raw(_) => String::new(),
    }
}

fn complete<'a>(block: &Block<'a>, signature: &'a str) -> ContentBlock<'a> {
    match *block {
        Block::Text(text) => ContentBlock::Text(text),
        Block::Thinking(thinking) => ContentBlock::Thinking { thinking, signature },
        Block::Call(call) => tool_use(call, raw(call.input)),
        // The service has no way to show half an input in a document.
        Block::CutCall(call) => tool_use(call, raw("{}")),
        Block::Raw(block) => ContentBlock::Raw(raw(block)),
    }
}

/// How a block looks before its deltas.
pub(super) fn opened<'a>(block: &Block<'a>) -> ContentBlock<'a> {
    match *block {
        Block::Text(_) => ContentBlock::Text(""),
        Block::Thinking(_) => ContentBlock::Thinking { thinking: "", signature: "" },
        Block::Call(call) | Block::CutCall(call) => tool_use(call, raw("{}")),
        Block::Raw(block) => ContentBlock::Raw(raw(block)),
    }
}

fn tool_use<'a>(call: Call<'a>, input: Box<RawValue>) -> ContentBlock<'a> {
    ContentBlock::ToolUse { id: call.id, name: call.name, input }
}

/// The script's reader let nothing but JSON through.
fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Known<'a> {
    Text { text: &'a str },
    Thinking { thinking: &'a str, signature: &'a str },
}

#[derive(Serialize)]
struct ToolUse<'a> {
    r#type: &'a str,
    id: &'a str,
    name: &'a str,
    input: &'a RawValue,
}

impl Serialize for ContentBlock<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => Known::Text { text }.serialize(serializer),
            Self::Thinking { thinking, signature } => {
                Known::Thinking { thinking, signature }.serialize(serializer)
            }
            Self::ToolUse { id, name, input } => {
                ToolUse { r#type: "tool_use", id, name, input }.serialize(serializer)
            }
            Self::Raw(block) => block.serialize(serializer),
        }
    }
}
