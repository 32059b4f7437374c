//! An answer as one Messages response.

use serde::Serialize;
use serde_json::value::RawValue;
use windlass_core::message::raw_json::sha256_hex;

use super::request_parser::MessagesSpec;
use super::usage::MessagesUsageBody;
use crate::scripted_answer::{ScriptedAnswer, ScriptedStop};
use crate::server::answer_block::{AnswerBlock, AnswerCall, answer_blocks};
use crate::server::response_head::ResponseHead;
use crate::server::sse::to_json_line;

/// A message, whole or about to start.
#[derive(Serialize)]
pub(super) struct MessageDocument<'a> {
    id: String,
    r#type: &'a str,
    role: &'a str,
    model: &'a str,
    content: Vec<ContentBlockBody<'a>>,
    stop_reason: Option<&'a str>,
    stop_sequence: Option<&'a str>,
    usage: MessagesUsageBody,
}

/// A content block. A raw block is written as it is.
pub(super) enum ContentBlockBody<'a> {
    Text(&'a str),
    Thinking { thinking: &'a str, signature: &'a str },
    ToolUse { id: &'a str, name: &'a str, input: Box<RawValue> },
    Raw(Box<RawValue>),
}

/// The message of a whole answer.
pub(in crate::server) fn encode_message(
    order: &MessagesSpec,
    head: ResponseHead,
    answer: &ScriptedAnswer,
) -> String {
    let blocks: Vec<(AnswerBlock<'_>, String)> =
        answer_blocks(&answer.steps).map(|block| (block, thinking_signature(&block))).collect();
    let content =
        blocks.iter().map(|(block, signature)| complete_block(block, signature)).collect();
    let ScriptedStop { reason, sequence } = &answer.stop;
    to_json_line(&MessageDocument {
        content,
        stop_reason: Some(reason),
        stop_sequence: sequence.as_deref(),
        usage: MessagesUsageBody::at_end(&head),
        ..empty_message(order, &head)
    })
}

/// A message without content.
pub(super) fn empty_message<'a>(
    order: &'a MessagesSpec,
    head: &ResponseHead,
) -> MessageDocument<'a> {
    MessageDocument {
        id: head.id_with_prefix("msg_"),
        r#type: "message",
        role: "assistant",
        model: &order.model,
        content: Vec::new(),
        stop_reason: None,
        stop_sequence: None,
        usage: MessagesUsageBody::at_start(head),
    }
}

/// The signature of thinking: equal thinking has an equal signature.
pub(super) fn thinking_signature(block: &AnswerBlock<'_>) -> String {
    match block {
        AnswerBlock::Thinking(thinking) => sha256_hex(thinking.as_bytes()),
        AnswerBlock::Text(_)
        | AnswerBlock::Call(_)
        | AnswerBlock::CutCall(_)
        | AnswerBlock::Raw(_) => String::new(),
    }
}

fn complete_block<'a>(block: &AnswerBlock<'a>, signature: &'a str) -> ContentBlockBody<'a> {
    match *block {
        AnswerBlock::Text(text) => ContentBlockBody::Text(text),
        AnswerBlock::Thinking(thinking) => ContentBlockBody::Thinking { thinking, signature },
        AnswerBlock::Call(call) => tool_use_block(call, to_raw_value(call.input)),
        // A whole message cannot contain a truncated input.
        AnswerBlock::CutCall(call) => tool_use_block(call, to_raw_value("{}")),
        AnswerBlock::Raw(block) => ContentBlockBody::Raw(to_raw_value(block)),
    }
}

/// A block before its deltas.
pub(super) fn opened_block<'a>(block: &AnswerBlock<'a>) -> ContentBlockBody<'a> {
    match *block {
        AnswerBlock::Text(_) => ContentBlockBody::Text(""),
        AnswerBlock::Thinking(_) => ContentBlockBody::Thinking { thinking: "", signature: "" },
        AnswerBlock::Call(call) | AnswerBlock::CutCall(call) => {
            tool_use_block(call, to_raw_value("{}"))
        }
        AnswerBlock::Raw(block) => ContentBlockBody::Raw(to_raw_value(block)),
    }
}

fn tool_use_block<'a>(call: AnswerCall<'a>, input: Box<RawValue>) -> ContentBlockBody<'a> {
    ContentBlockBody::ToolUse { id: call.id, name: call.name, input }
}

/// Parses JSON of the script, whose parser accepts nothing but JSON.
fn to_raw_value(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum KnownBlockBody<'a> {
    Text { text: &'a str },
    Thinking { thinking: &'a str, signature: &'a str },
}

#[derive(Serialize)]
struct ToolUseBody<'a> {
    r#type: &'a str,
    id: &'a str,
    name: &'a str,
    input: &'a RawValue,
}

impl Serialize for ContentBlockBody<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => KnownBlockBody::Text { text }.serialize(serializer),
            Self::Thinking { thinking, signature } => {
                KnownBlockBody::Thinking { thinking, signature }.serialize(serializer)
            }
            Self::ToolUse { id, name, input } => {
                ToolUseBody { r#type: "tool_use", id, name, input }.serialize(serializer)
            }
            Self::Raw(block) => block.serialize(serializer),
        }
    }
}
