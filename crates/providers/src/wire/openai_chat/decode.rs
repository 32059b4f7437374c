//! Decodes a Chat Completions stream into a reply.

use std::sync::Arc;

use serde_json::value::RawValue;
use windlass_core::message::reply::{ModelReply, StopReason};
use windlass_runtime::ports::ReplyObserver;

use super::chunk::{ChatChunk, ChatUsage, ChunkChoice, ChunkDelta};
use super::errors;
use super::reply_parts::ChatReplyParts;
use crate::call::call_notice::{CallNotice, ReplyEnvelope};
use crate::error::call_error::CallError;
use crate::json::json_string;
use crate::wire::decode_context::DecodeContext;
use crate::wire::openai_common;
use crate::wire::reply_builder::OutputEnd;
use crate::wire::reported_usage::ReportedUsage;
use crate::wire::sse;
use crate::wire::stop_strings::StopStringMatcher;
use crate::wire::wire_protocol::{DecodeProgress, DecodedReply, StreamDecoder};

/// The marker at the end of a stream.
const DONE_MARKER: &str = "[DONE]";

/// The decoder of a Chat Completions stream.
#[derive(Debug)]
pub(crate) struct ChatDecoder {
    context: DecodeContext,
    parts: ChatReplyParts,
    stop_matcher: StopStringMatcher,
    has_started: bool,
    end: ChatStreamEnd,
    has_refusal: bool,
    finish_reason: Option<String>,
    stop_sequence: Option<Arc<str>>,
    usage: ReportedUsage,
    envelope: ReplyEnvelope,
}

/// How the stream ended, or that it has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChatStreamEnd {
    /// The stream continues.
    Open,
    /// The server sent the end marker.
    DoneMarker,
    /// A stop string was matched locally, and no more is read.
    StopString,
}

impl ChatDecoder {
    pub(crate) fn new(context: DecodeContext) -> Self {
        let stop_matcher = StopStringMatcher::new(context.stop_strings.iter().cloned());
        Self {
            parts: ChatReplyParts::new(&context),
            context,
            stop_matcher,
            has_started: false,
            end: ChatStreamEnd::Open,
            has_refusal: false,
            finish_reason: None,
            stop_sequence: None,
            usage: ReportedUsage::default(),
            envelope: ReplyEnvelope::default(),
        }
    }

    /// Decodes a chunk of a stream, or a response that was not streamed.
    pub(crate) fn decode_chunk(
        &mut self,
        data: &str,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodeProgress, CallError> {
        let chunk: ChatChunk<'_> =
            serde_json::from_str(data).map_err(|error| CallError::invalid_event_json(&error))?;
        if let Some(error) = chunk.error.filter(|error| error.get() != "null") {
            return Err(errors::error_from_event(error.get()));
        }
        // A chunk before the first choice may have an empty id.
        if !chunk.choices.is_empty() {
            self.parts.start_events(data, &self.context, stream);
        }
        if let Some(used) = openai_common::parse_usage::<ChatUsage<'_>>(chunk.usage) {
            self.usage.merge(used.to_reported());
        }
        let mut progress = DecodeProgress::Keepalive;
        for choice in chunk.choices.iter().filter(|choice| choice.index == 0) {
            if self.on_choice(choice, stream)? == DecodeProgress::Content {
                progress = DecodeProgress::Content;
            }
        }
        Ok(if self.end == ChatStreamEnd::StopString {
            DecodeProgress::StopReading
        } else {
            progress
        })
    }

    fn on_choice(
        &mut self,
        choice: &ChunkChoice<'_>,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodeProgress, CallError> {
        self.has_started = true;
        let mut progress = DecodeProgress::Keepalive;
        if let Some(delta) = &choice.delta {
            progress = self.on_delta(delta, stream)?;
        }
        if let Some(reason) = &choice.finish_reason {
            self.finish_reason = Some(reason.clone().into_owned());
            self.stop_sequence =
                choice.stop_reason.and_then(json_string::decode_raw_string).map(Arc::from);
            progress = DecodeProgress::Content;
        }
        Ok(progress)
    }

    fn on_delta(
        &mut self,
        delta: &ChunkDelta<'_>,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodeProgress, CallError> {
        let mut progress = DecodeProgress::Keepalive;
        let thoughts =
            [("reasoning_content", delta.reasoning_content), ("reasoning", delta.reasoning)];
        for (field, piece) in thoughts {
            if let Some(item) = piece.filter(|item| has_content(item)) {
                self.parts.push_reasoning(field, item, stream)?;
                progress = DecodeProgress::Content;
                // Some servers send the same text in both fields.
                break;
            }
        }
        if let Some(item) = delta.content.filter(|item| has_content(item)) {
            self.on_text(item, stream)?;
            progress = DecodeProgress::Content;
        }
        if let Some(item) = delta.refusal.filter(|item| has_content(item)) {
            self.has_refusal = true;
            self.on_text(item, stream)?;
            progress = DecodeProgress::Content;
        }
        for call in delta.tool_calls.iter().flatten() {
            self.parts.push_call_delta(call, stream)?;
            progress = DecodeProgress::Content;
        }
        Ok(progress)
    }

    fn on_text(&mut self, item: &RawValue, stream: &dyn ReplyObserver) -> Result<(), CallError> {
        let text = json_string::decode_raw_string(item).unwrap_or_default();
        self.parts.push_text(item, stream)?;
        stream.on_text(&text);
        if self.stop_matcher.push_and_check(&text) {
            self.end = ChatStreamEnd::StopString;
        }
        Ok(())
    }

    fn into_reply(mut self, stream: &dyn ReplyObserver) -> Result<DecodedReply, CallError> {
        let stopped = self.parts.truncate_at_stop(&self.stop_matcher, stream);
        let finish_reason = self.finish_reason.as_deref().unwrap_or_default();
        let ending = match finish_reason {
            "length" | "model_length" => OutputEnd::OutputLimit,
            _ => OutputEnd::Other,
        };
        let bytes = self.parts.bytes();
        let (draft, events) = self.parts.finish(stream)?;
        let has_calls = draft.has_calls();
        let (blocks, truncated_block) = draft.finish(ending);
        let stop_sequence = stopped.or(self.stop_sequence);
        let usage = self.context.usage_or_estimate(self.usage, bytes, &mut self.envelope);
        let stop_reason = match (self.has_refusal, &stop_sequence, has_calls) {
            (true, _, _) => StopReason::Refusal,
            (false, Some(_), false) => StopReason::StopSequence,
            (false, _, true) => stop_reason_with_calls(finish_reason),
            (false, None, false) => stop_reason_without_calls(finish_reason)?,
        };
        let reply = ModelReply {
            blocks,
            truncated_block,
            stop_reason,
            stop_sequence,
            usage,
            envelope: None,
        };
        events.end_message(&reply, stream);
        Ok(DecodedReply { reply, envelope: self.envelope })
    }
}

/// The stop reason of a reply with calls: whatever the server reports, calls are calls; only the
/// output limit changes that.
fn stop_reason_with_calls(finish_reason: &str) -> StopReason {
    match finish_reason {
        "length" => StopReason::MaxTokens,
        "model_length" => StopReason::ContextWindowExceeded,
        "content_filter" => StopReason::Refusal,
        _ => StopReason::ToolUse,
    }
}

fn stop_reason_without_calls(finish_reason: &str) -> Result<StopReason, CallError> {
    match finish_reason {
        "" | "stop" | "eos" | "tool_calls" | "function_call" => Ok(StopReason::EndTurn),
        "length" => Ok(StopReason::MaxTokens),
        "content_filter" => Ok(StopReason::Refusal),
        "model_length" => Ok(StopReason::ContextWindowExceeded),
        "error" | "insufficient_system_resource" | "abort" => {
            Err(CallError::StreamCut(format!("the server aborted the reply: {finish_reason}")))
        }
        other => Ok(StopReason::from(other)),
    }
}

fn has_content(item: &RawValue) -> bool {
    !matches!(item.get(), "null" | "\"\"" | "[]")
}

impl StreamDecoder for ChatDecoder {
    fn decode_event(
        &mut self,
        event: &sse::SseEvent<'_>,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodeProgress, CallError> {
        if event.data.trim() == DONE_MARKER {
            self.end = ChatStreamEnd::DoneMarker;
            return Ok(DecodeProgress::Done);
        }
        if event.name == "error" {
            return Err(errors::error_from_event(&event.data));
        }
        self.decode_chunk(&event.data, stream)
    }

    fn has_started(&self) -> bool {
        self.has_started
    }

    fn finish(mut self: Box<Self>, stream: &dyn ReplyObserver) -> Result<DecodedReply, CallError> {
        if self.finish_reason.is_none() {
            match self.end {
                ChatStreamEnd::Open => {
                    return Err(CallError::StreamCut("before the finish reason".to_owned()));
                }
                ChatStreamEnd::DoneMarker => {
                    self.envelope.add_notice(CallNotice::StopReasonMissing);
                }
                ChatStreamEnd::StopString => {}
            }
        }
        self.into_reply(stream)
    }
}
