//! An answer as one completion.

use serde::Serialize;

use super::super::super::answer::{Answer, Stop};
use super::super::block::{Block, Call, blocks};
use super::super::head::Head;
use super::super::sse::json;
use super::request::Order;
use super::usage::Usage;

pub(super) const FINGERPRINT: &str = "fp_scripted";

#[derive(Serialize)]
struct Completion<'a> {
    id: String,
    object: &'a str,
    created: u64,
    model: &'a str,
    choices: [Choice<'a>; 1],
    usage: Usage,
    service_tier: &'a str,
    system_fingerprint: &'a str,
}

#[derive(Serialize)]
struct Choice<'a> {
    index: u32,
    message: Message<'a>,
    logprobs: Option<()>,
    finish_reason: &'a str,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'a str,
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    refusal: Option<()>,
    annotations: [(); 0],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall<'a>>,
}

#[derive(Serialize)]
struct ToolCall<'a> {
    id: &'a str,
    r#type: &'a str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: &'a str,
}

/// The completion of a whole answer.
pub(in super::super) fn whole(order: &Order, head: Head, answer: &Answer) -> String {
    let message = message(answer);
    let finish_reason = finish_reason(&answer.stop);
    json(&Completion {
        id: head.id("chatcmpl-"),
        object: "chat.completion",
        created: head.created,
        model: &order.model,
        choices: [Choice { index: 0, message, logprobs: None, finish_reason }],
        usage: Usage::of(&head),
        service_tier: "default",
        system_fingerprint: FINGERPRINT,
    })
}

/// A message has one content: texts that follow each other run together.
fn message(answer: &Answer) -> Message<'_> {
    let (mut content, mut reasoning_content) = (None::<String>, None::<String>);
    let mut tool_calls = Vec::new();
    for block in blocks(&answer.steps) {
        match block {
            Block::Text(text) => content.get_or_insert_default().push_str(text),
            Block::Thinking(text) => reasoning_content.get_or_insert_default().push_str(text),
            Block::Call(call) | Block::CutCall(call) => tool_calls.push(tool_call(call)),
            Block::Raw(_) => {}
        }
    }
    let (role, refusal, annotations) = ("assistant", None, []);
    Message { role, content, reasoning_content, refusal, annotations, tool_calls }
}

fn tool_call(call: Call<'_>) -> ToolCall<'_> {
    let function = Function { name: call.name, arguments: call.input };
    ToolCall { id: call.id, r#type: "function", function }
}

/// The service's word for a stop; a word it does not have goes out as the script wrote it.
pub(super) fn finish_reason(stop: &Stop) -> &str {
    match stop.reason.as_str() {
        "end_turn" | "stop_sequence" => "stop",
        "tool_use" => "tool_calls",
        "max_tokens" | "model_context_window_exceeded" => "length",
        "refusal" => "content_filter",
        other => other,
    }
}
