//! An answer as a stream of chat completion chunks.

use serde::Serialize;

use super::completion::{SYSTEM_FINGERPRINT, finish_reason};
use super::error_body::error_body;
use super::request_parser::ChatSpec;
use super::usage::ChatUsageBody;
use crate::scripted_answer::ScriptedStop;
use crate::server::answer_block::{AnswerBlock, AnswerCall};
use crate::server::event_encoder::EventEncoder;
use crate::server::rejection::RequestRejection;
use crate::server::response_head::ResponseHead;
use crate::server::sse::write_event;

/// The chunks of one answer.
pub(in crate::server) struct ChatEventEncoder {
    spec: ChatSpec,
    head: ResponseHead,
    /// The number of calls that have started.
    opened_calls: usize,
}

#[derive(Serialize)]
struct ChatChunkBody<'a> {
    id: String,
    object: &'a str,
    created: u64,
    model: &'a str,
    service_tier: &'a str,
    system_fingerprint: &'a str,
    choices: Vec<ChatChunkChoice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<ChatUsageBody>,
}

#[derive(Serialize)]
struct ChatChunkChoice<'a> {
    index: u32,
    delta: ChatChunkDelta<'a>,
    logprobs: Option<()>,
    finish_reason: Option<&'a str>,
}

#[derive(Default, Serialize)]
struct ChatChunkDelta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<[ChatChunkToolCall<'a>; 1]>,
}

#[derive(Serialize)]
struct ChatChunkToolCall<'a> {
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<&'a str>,
    function: ChatChunkFunction<'a>,
}

#[derive(Serialize)]
struct ChatChunkFunction<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    arguments: &'a str,
}

impl ChatEventEncoder {
    pub(in crate::server) fn new(spec: ChatSpec, head: ResponseHead) -> Self {
        Self { spec, head, opened_calls: 0 }
    }

    fn new_chunk<'a>(
        &'a self,
        choices: Vec<ChatChunkChoice<'a>>,
        usage: Option<ChatUsageBody>,
    ) -> ChatChunkBody<'a> {
        ChatChunkBody {
            id: self.head.id_with_prefix("chatcmpl-"),
            object: "chat.completion.chunk",
            created: self.head.created,
            model: &self.spec.model,
            service_tier: "default",
            system_fingerprint: SYSTEM_FINGERPRINT,
            choices,
            usage,
        }
    }

    fn write_delta(&self, out: &mut String, delta: ChatChunkDelta<'_>) {
        let choice = ChatChunkChoice { index: 0, delta, logprobs: None, finish_reason: None };
        write_event(out, &self.new_chunk(vec![choice], None));
    }

    fn write_call(&self, out: &mut String, call: ChatChunkToolCall<'_>) {
        self.write_delta(
            out,
            ChatChunkDelta { tool_calls: Some([call]), ..ChatChunkDelta::default() },
        );
    }

    /// The index of the open call.
    fn open_index(&self) -> usize {
        self.opened_calls.saturating_sub(1)
    }

    fn open_call(&mut self, out: &mut String, call: &AnswerCall<'_>) {
        self.opened_calls = self.opened_calls.saturating_add(1);
        let function = ChatChunkFunction { name: Some(call.name), arguments: "" };
        let (index, id, kind) = (self.open_index(), Some(call.id), Some("function"));
        self.write_call(out, ChatChunkToolCall { index, id, r#type: kind, function });
    }

    fn write_call_piece(&self, out: &mut String, chunk: &str) {
        let function = ChatChunkFunction { name: None, arguments: chunk };
        self.write_call(
            out,
            ChatChunkToolCall { index: self.open_index(), id: None, r#type: None, function },
        );
    }
}

impl EventEncoder for ChatEventEncoder {
    fn begin_answer(&mut self, out: &mut String) {
        let (role, content) = (Some("assistant"), Some(""));
        self.write_delta(out, ChatChunkDelta { role, content, ..ChatChunkDelta::default() });
    }

    fn open_block(&mut self, out: &mut String, block: &AnswerBlock<'_>) {
        match block {
            AnswerBlock::Call(call) | AnswerBlock::CutCall(call) => self.open_call(out, call),
            AnswerBlock::Text(_) | AnswerBlock::Thinking(_) | AnswerBlock::Raw(_) => {}
        }
    }

    fn write_piece(&mut self, out: &mut String, block: &AnswerBlock<'_>, chunk: &str) {
        let piece_of = Some(chunk);
        match block {
            AnswerBlock::Text(_) => self.write_delta(
                out,
                ChatChunkDelta { content: piece_of, ..ChatChunkDelta::default() },
            ),
            AnswerBlock::Thinking(_) => {
                self.write_delta(
                    out,
                    ChatChunkDelta { reasoning_content: piece_of, ..ChatChunkDelta::default() },
                );
            }
            AnswerBlock::Call(_) | AnswerBlock::CutCall(_) => self.write_call_piece(out, chunk),
            AnswerBlock::Raw(_) => {}
        }
    }

    /// Does nothing: the format does not mark the end of a block.
    fn close_block(&mut self, _: &mut String, _: &AnswerBlock<'_>) {}

    /// Writes an SSE comment, as some servers send it.
    fn write_ping(&self, out: &mut String) {
        out.push_str(": ping\n\n");
    }

    fn end_answer(&mut self, out: &mut String, stop: &ScriptedStop) {
        let (delta, finish_reason) = (ChatChunkDelta::default(), Some(finish_reason(stop)));
        let choice = ChatChunkChoice { index: 0, delta, logprobs: None, finish_reason };
        write_event(out, &self.new_chunk(vec![choice], None));
        if self.spec.wants_usage_chunk {
            write_event(
                out,
                &self.new_chunk(Vec::new(), Some(ChatUsageBody::from_head(&self.head))),
            );
        }
        out.push_str("data: [DONE]\n\n");
    }

    fn end_with_error(&mut self, out: &mut String, refusal: &RequestRejection) {
        write_event(out, &error_body(refusal));
    }
}
