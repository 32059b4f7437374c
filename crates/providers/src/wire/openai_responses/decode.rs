//! Decodes a Responses stream into a reply.

use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::reply::{ModelReply, StopReason};
use windlass_runtime::ports::ReplyObserver;

use super::item_events::ItemEvents;
use super::output_item::{self, ItemFindings};
use super::stream_event::{ResponsesBody, ResponsesEvent, ResponsesUsage};
use crate::call::call_notice::ReplyEnvelope;
use crate::error::call_error::CallError;
use crate::limits::MAX_OPEN_BLOCKS;
use crate::wire::decode_context::DecodeContext;
use crate::wire::openai_chat::error_from_event;
use crate::wire::openai_common;
use crate::wire::reply_builder::{CallFrame, OutputEnd, ReplyBuilder, StreamedCall};
use crate::wire::reported_usage::ReportedUsage;
use crate::wire::sse;
use crate::wire::stop_strings::StopStringMatcher;
use crate::wire::wire_protocol::{DecodeProgress, DecodedReply, StreamDecoder};

/// The decoder of a Responses stream.
#[derive(Debug)]
pub(crate) struct ResponsesDecoder {
    context: DecodeContext,
    reply: ReplyBuilder,
    events: ItemEvents,
    stop_matcher: StopStringMatcher,
    open: Vec<OpenOutputItem>,
    has_started: bool,
    end: Option<ResponseEnd>,
    findings: ItemFindings,
    usage: ReportedUsage,
    envelope: ReplyEnvelope,
}

/// Why the output ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ResponseEnd {
    Completed,
    Incomplete(String),
    /// A stop string was matched locally, and no more is read.
    StopString,
}

/// An item that has started.
#[derive(Debug)]
struct OpenOutputItem {
    index: u64,
    call: Option<StreamedCall>,
    text: String,
}

impl ResponsesDecoder {
    pub(crate) fn new(context: DecodeContext) -> Self {
        Self {
            stop_matcher: StopStringMatcher::new(context.stop_strings.iter().cloned()),
            context,
            reply: ReplyBuilder::default(),
            events: ItemEvents::default(),
            open: Vec::new(),
            has_started: false,
            end: None,
            findings: ItemFindings::default(),
            usage: ReportedUsage::default(),
            envelope: ReplyEnvelope::default(),
        }
    }

    fn on_item_added(
        &mut self,
        event: &ResponsesEvent<'_>,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodeProgress, CallError> {
        self.has_started = true;
        self.events.start("{}", &self.context, stream);
        let Some(item) = event.item.and_then(output_item::parse_item) else {
            return Ok(DecodeProgress::Keepalive);
        };
        if self.open.len() >= MAX_OPEN_BLOCKS {
            return Err(CallError::malformed_stream("too many open items"));
        }
        let is_call = item.kind == "function_call";
        let call = is_call
            .then(|| output_item::streamed_call(&item, &self.context, &self.reply, String::new()));
        if let Some(CallFrame::Standard { id }) = call.as_ref().map(|call| &call.frame) {
            self.events.open_item(event.output_index, (&item, id), stream);
        }
        self.open.push(OpenOutputItem { index: event.output_index, call, text: String::new() });
        Ok(DecodeProgress::Content)
    }

    fn on_item_done(
        &mut self,
        event: &ResponsesEvent<'_>,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodeProgress, CallError> {
        self.has_started = true;
        self.events.start("{}", &self.context, stream);
        self.open.retain(|open| open.index != event.output_index);
        if let Some(raw) = event.item {
            self.finish_item(event.output_index, raw, stream)?;
        }
        Ok(DecodeProgress::Content)
    }

    fn finish_item(
        &mut self,
        index: u64,
        raw: &serde_json::value::RawValue,
        stream: &dyn ReplyObserver,
    ) -> Result<(), CallError> {
        let earlier_parts = self.reply.len();
        let found = output_item::add_item(
            raw,
            &self.context,
            (&mut self.reply, &self.stop_matcher),
            stream,
        )?;
        self.events.complete_item(index, self.reply.contents_from(earlier_parts), stream);
        self.findings.has_refusal |= found.has_refusal;
        self.findings.stop_string = found.stop_string.or(self.findings.stop_string.take());
        Ok(())
    }

    fn on_arguments_delta(
        &mut self,
        event: &ResponsesEvent<'_>,
        stream: &dyn ReplyObserver,
    ) -> DecodeProgress {
        let chunk = event.delta_text();
        self.events.write_input(event.output_index, &chunk, stream);
        let open = self.open.iter_mut().find(|open| open.index == event.output_index);
        if let Some(call) = open.and_then(|open| open.call.as_mut()) {
            call.input.push_str(&chunk);
        }
        DecodeProgress::Content
    }

    fn on_text_delta(
        &mut self,
        event: &ResponsesEvent<'_>,
        stream: &dyn ReplyObserver,
    ) -> DecodeProgress {
        let chunk = event.delta_text();
        stream.on_text(&chunk);
        self.events.write_text(event.content_place(), &chunk, stream);
        let open = self.open.iter_mut().find(|open| open.index == event.output_index);
        if let Some(open) = open {
            open.text.push_str(&chunk);
        }
        if self.stop_matcher.push_and_check(&chunk) {
            self.end = Some(ResponseEnd::StopString);
            return DecodeProgress::StopReading;
        }
        DecodeProgress::Content
    }

    fn on_reasoning_delta(
        &mut self,
        event: &ResponsesEvent<'_>,
        stream: &dyn ReplyObserver,
    ) -> DecodeProgress {
        let chunk = event.delta_text();
        stream.on_thinking(&chunk);
        self.events.write_thinking(event.reasoning_place(), &chunk, stream);
        DecodeProgress::Content
    }

    /// Decodes the last event, or a response that was not streamed.
    pub(crate) fn decode_response(
        &mut self,
        json: &str,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodeProgress, CallError> {
        self.has_started = true;
        let response: ResponsesBody<'_> = serde_json::from_str(json).map_err(|error| {
            CallError::Malformed(format!("invalid Responses response: {error}"))
        })?;
        let error = response.error.filter(|error| error.get() != "null");
        if let Some(error) = error {
            return Err(error_from_event(error.get()));
        }
        if let Some(used) = openai_common::parse_usage::<ResponsesUsage<'_>>(response.usage) {
            self.usage.merge(used.to_reported());
        }
        self.events.start(json, &self.context, stream);
        if self.reply.len() == 0 && self.open.is_empty() {
            for (index, raw) in (0..).zip(&response.output) {
                self.finish_item(index, raw, stream)?;
            }
        }
        let reason = response.incomplete_details.map(|details| details.reason.into_owned());
        self.end = match response.status.as_deref() {
            Some("completed") => Some(ResponseEnd::Completed),
            Some("incomplete") => Some(ResponseEnd::Incomplete(reason.unwrap_or_default())),
            Some("failed" | "cancelled") => {
                return Err(CallError::StreamCut("the server aborted the reply".to_owned()));
            }
            _ => None,
        };
        Ok(DecodeProgress::Done)
    }

    /// Finishes items that never ended with what was streamed of them.
    fn finish_open_items(&mut self, stream: &dyn ReplyObserver) -> Result<(), CallError> {
        for open in std::mem::take(&mut self.open) {
            if let Some(call) = open.call {
                self.reply.push_call(call, stream)?;
            } else if !open.text.is_empty() {
                let cut = self.stop_matcher.split_at_stop(&open.text);
                let text = cut.as_ref().map_or(open.text.as_str(), |(before, _)| before);
                if !text.is_empty() {
                    self.reply.push_block(ContentBlock::text(text), stream)?;
                }
                self.findings.stop_string =
                    cut.map(|(_, stop)| stop).or(self.findings.stop_string.take());
            }
        }
        Ok(())
    }

    fn into_reply(
        mut self,
        end: &ResponseEnd,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodedReply, CallError> {
        self.finish_open_items(stream)?;
        let limited =
            matches!(end, ResponseEnd::Incomplete(reason) if reason == "max_output_tokens");
        let ending = if limited { OutputEnd::OutputLimit } else { OutputEnd::Other };
        let (has_calls, bytes) = (self.reply.has_calls(), self.reply.bytes());
        let (blocks, truncated_block) = self.reply.finish(ending);
        let stop_reason = stop_reason_for(end, has_calls, &self.findings);
        let usage = self.context.usage_or_estimate(self.usage, bytes, &mut self.envelope);
        let stop_sequence = self.findings.stop_string;
        let reply = ModelReply {
            blocks,
            truncated_block,
            stop_reason,
            stop_sequence,
            usage,
            envelope: None,
        };
        self.events.finish(stream).end_message(&reply, stream);
        Ok(DecodedReply { reply, envelope: self.envelope })
    }
}

fn stop_reason_for(end: &ResponseEnd, has_calls: bool, found: &ItemFindings) -> StopReason {
    match end {
        _ if found.has_refusal => StopReason::Refusal,
        ResponseEnd::Incomplete(reason) => match reason.as_str() {
            "max_output_tokens" => StopReason::MaxTokens,
            "content_filter" => StopReason::Refusal,
            other => StopReason::from(other),
        },
        ResponseEnd::Completed | ResponseEnd::StopString if has_calls => StopReason::ToolUse,
        ResponseEnd::Completed | ResponseEnd::StopString if found.stop_string.is_some() => {
            StopReason::StopSequence
        }
        ResponseEnd::Completed | ResponseEnd::StopString => StopReason::EndTurn,
    }
}

impl StreamDecoder for ResponsesDecoder {
    fn decode_event(
        &mut self,
        event: &sse::SseEvent<'_>,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodeProgress, CallError> {
        let data = event.data.as_ref();
        if data.trim() == "[DONE]" {
            return Ok(DecodeProgress::Keepalive);
        }
        self.reply.count_bytes(data.len())?;
        let event: ResponsesEvent<'_> =
            serde_json::from_str(data).map_err(|error| CallError::invalid_event_json(&error))?;
        match event.kind.as_ref() {
            "response.output_item.added" => self.on_item_added(&event, stream),
            "response.output_item.done" => self.on_item_done(&event, stream),
            "response.output_text.delta" | "response.refusal.delta" => {
                Ok(self.on_text_delta(&event, stream))
            }
            "response.function_call_arguments.delta" => Ok(self.on_arguments_delta(&event, stream)),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                Ok(self.on_reasoning_delta(&event, stream))
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response = event.response.map_or("{}", |response| response.get());
                self.decode_response(response, stream)
            }
            "response.created" => {
                self.has_started = true;
                let response = event.response.map_or("{}", |response| response.get());
                self.events.start(response, &self.context, stream);
                Ok(DecodeProgress::Content)
            }
            "error" => Err(error_from_event(data)),
            kind if kind.ends_with(".delta") => Ok(DecodeProgress::Content),
            // Keepalives and unknown events.
            _ => Ok(DecodeProgress::Keepalive),
        }
    }

    fn has_started(&self) -> bool {
        self.has_started
    }

    fn finish(mut self: Box<Self>, stream: &dyn ReplyObserver) -> Result<DecodedReply, CallError> {
        match self.end.take() {
            Some(end) => self.into_reply(&end, stream),
            None => {
                let position =
                    if self.open.is_empty() { "between items" } else { "inside an item" };
                Err(CallError::StreamCut(position.to_owned()))
            }
        }
    }
}
