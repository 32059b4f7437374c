//! An answer as one chat completion.

use serde::Serialize;

use super::request_parser::ChatSpec;
use super::usage::ChatUsageBody;
use crate::scripted_answer::{ScriptedAnswer, ScriptedStop};
use crate::server::answer_block::{AnswerBlock, AnswerCall, answer_blocks};
use crate::server::response_head::ResponseHead;
use crate::server::sse::to_json_line;

pub(super) const SYSTEM_FINGERPRINT: &str = "fp_scripted";

#[derive(Serialize)]
struct ChatCompletion<'a> {
    id: String,
    object: &'a str,
    created: u64,
    model: &'a str,
    choices: [CompletionChoice<'a>; 1],
    usage: ChatUsageBody,
    service_tier: &'a str,
    system_fingerprint: &'a str,
}

#[derive(Serialize)]
struct CompletionChoice<'a> {
    index: u32,
    message: CompletionMessage<'a>,
    logprobs: Option<()>,
    finish_reason: &'a str,
}

#[derive(Serialize)]
struct CompletionMessage<'a> {
    role: &'a str,
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    refusal: Option<()>,
    annotations: [(); 0],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<CompletionToolCall<'a>>,
}

#[derive(Serialize)]
struct CompletionToolCall<'a> {
    id: &'a str,
    r#type: &'a str,
    function: CompletionFunction<'a>,
}

#[derive(Serialize)]
struct CompletionFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

/// The completion of a whole answer.
pub(in crate::server) fn encode_completion(
    order: &ChatSpec,
    head: ResponseHead,
    answer: &ScriptedAnswer,
) -> String {
    let message = completion_message(answer);
    let finish_reason = finish_reason(&answer.stop);
    to_json_line(&ChatCompletion {
        id: head.id_with_prefix("chatcmpl-"),
        object: "chat.completion",
        created: head.created,
        model: &order.model,
        choices: [CompletionChoice { index: 0, message, logprobs: None, finish_reason }],
        usage: ChatUsageBody::from_head(&head),
        service_tier: "default",
        system_fingerprint: SYSTEM_FINGERPRINT,
    })
}

/// The message of the completion. A message has one content: texts are joined.
fn completion_message(answer: &ScriptedAnswer) -> CompletionMessage<'_> {
    let (mut content, mut reasoning_content) = (None::<String>, None::<String>);
    let mut tool_calls = Vec::new();
    for block in answer_blocks(&answer.steps) {
        match block {
            AnswerBlock::Text(text) => content.get_or_insert_default().push_str(text),
            AnswerBlock::Thinking(text) => reasoning_content.get_or_insert_default().push_str(text),
            AnswerBlock::Call(call) | AnswerBlock::CutCall(call) => {
                tool_calls.push(completion_tool_call(call));
            }
            AnswerBlock::Raw(_) => {}
        }
    }
    let (role, refusal, annotations) = ("assistant", None, []);
    CompletionMessage { role, content, reasoning_content, refusal, annotations, tool_calls }
}

fn completion_tool_call(call: AnswerCall<'_>) -> CompletionToolCall<'_> {
    let function = CompletionFunction { name: call.name, arguments: call.input };
    CompletionToolCall { id: call.id, r#type: "function", function }
}

/// The service's name for a stop reason; a word that it does not have is sent as the script wrote
/// it.
pub(super) fn finish_reason(stop: &ScriptedStop) -> &str {
    match stop.reason.as_str() {
        "end_turn" | "stop_sequence" => "stop",
        "tool_use" => "tool_calls",
        "max_tokens" | "model_context_window_exceeded" => "length",
        "refusal" => "content_filter",
        other => other,
    }
}
