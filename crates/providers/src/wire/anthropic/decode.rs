//! Decodes a Messages stream into a reply.

use std::sync::Arc;

use serde_json::value::RawValue;
use windlass_core::message::reply::{ModelReply, StopReason};
use windlass_runtime::ports::ReplyObserver;

use super::delta::{apply_delta, apply_fast_delta};
use super::errors;
use super::fast_events::{self, FastEvent};
use super::fast_message_events::{self, MessageEnd};
use super::flat_object::FlatObject;
use super::open_block::{FinishedBlock, OpenBlock};
use super::stream_event::MessagesEvent;
use super::usage::MessagesUsage;
use crate::call::call_notice::{CallNotice, ReplyEnvelope};
use crate::error::call_error::CallError;
use crate::limits::MAX_OPEN_BLOCKS;
use crate::wire::decode_context::DecodeContext;
use crate::wire::reply_builder::{OutputEnd, ReplyBuilder};
use crate::wire::reply_events;
use crate::wire::reported_usage::ReportedUsage;
use crate::wire::sse;
use crate::wire::wire_protocol::{DecodeProgress, DecodedReply, StreamDecoder};

/// The decoder of a Messages stream.
#[derive(Debug)]
pub(crate) struct MessagesDecoder {
    context: DecodeContext,
    reply: ReplyBuilder,
    open: Vec<OpenBlock>,
    has_started: bool,
    stopped: bool,
    stop_reason: Option<Arc<str>>,
    stop_sequence: Option<Arc<str>>,
    usage: ReportedUsage,
    envelope: ReplyEnvelope,
}

impl MessagesDecoder {
    pub(crate) fn new(context: DecodeContext) -> Self {
        Self {
            context,
            reply: ReplyBuilder::default(),
            open: Vec::new(),
            has_started: false,
            stopped: false,
            stop_reason: None,
            stop_sequence: None,
            usage: ReportedUsage::default(),
            envelope: ReplyEnvelope::default(),
        }
    }

    fn on_message_start(&mut self, event: &MessagesEvent<'_>) -> DecodeProgress {
        match event.message.map(RawValue::get) {
            Some(message) => self.record_start(&parse_message_usage(message)),
            None => {
                self.has_started = true;
                DecodeProgress::Content
            }
        }
    }

    fn record_start(&mut self, used: &MessagesUsage) -> DecodeProgress {
        self.has_started = true;
        self.usage.merge(used.to_reported_at_start());
        DecodeProgress::Content
    }

    fn on_block_start(&mut self, event: &MessagesEvent<'_>) -> Result<DecodeProgress, CallError> {
        self.has_started = true;
        let Some(start) = event.content_block.filter(|_| !self.is_open(event.index)) else {
            return Ok(DecodeProgress::Content);
        };
        self.reply.count_bytes(start.get().len())?;
        let open = OpenBlock::new(event.index, start);
        let open =
            open.ok_or_else(|| CallError::malformed_stream("a content block is not an object"))?;
        self.open_block(open)?;
        Ok(DecodeProgress::Content)
    }

    fn on_flat_block_start(
        &mut self,
        index: u64,
        block: &FlatObject<'_>,
    ) -> Result<DecodeProgress, CallError> {
        self.has_started = true;
        if !self.is_open(index) {
            self.reply.count_bytes(block.text.len())?;
            self.open_block(OpenBlock::with_fields(index, block.text, block.fields()))?;
        }
        Ok(DecodeProgress::Content)
    }

    fn open_block(&mut self, block: OpenBlock) -> Result<(), CallError> {
        if self.open.len() >= MAX_OPEN_BLOCKS {
            return Err(CallError::malformed_stream("too many open blocks"));
        }
        self.open.push(block);
        Ok(())
    }

    fn is_open(&self, index: u64) -> bool {
        self.open.iter().any(|open| open.index == index)
    }

    fn on_block_delta(
        &mut self,
        event: &MessagesEvent<'_>,
        data: &str,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodeProgress, CallError> {
        let Some(delta) = &event.delta else { return Ok(DecodeProgress::Keepalive) };
        apply_delta(self.open_block_mut(event.index, data)?, delta, data, stream);
        Ok(DecodeProgress::Content)
    }

    /// The block that an event adds to.
    fn open_block_mut(&mut self, index: u64, data: &str) -> Result<&mut OpenBlock, CallError> {
        self.reply.count_bytes(data.len())?;
        let open = self.open.iter_mut().find(|open| open.index == index);
        open.ok_or_else(|| CallError::malformed_stream("a delta for a block that has not started"))
    }

    fn on_fast_event(
        &mut self,
        event: &FastEvent<'_>,
        data: &str,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodeProgress, CallError> {
        match event {
            FastEvent::BlockStart { index, block } => self.on_flat_block_start(*index, block),
            FastEvent::BlockStop { index } => self.on_block_stop(*index, stream),
            FastEvent::MessageStop => self.on_message_stop(stream),
            FastEvent::Delta { index, of, piece } => {
                apply_fast_delta(self.open_block_mut(*index, data)?, *of, piece, stream);
                Ok(DecodeProgress::Content)
            }
        }
    }

    fn on_block_stop(
        &mut self,
        index: u64,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodeProgress, CallError> {
        if let Some(at) = self.open.iter().position(|open| open.index == index) {
            let open = self.open.remove(at);
            self.finish_block(open, stream)?;
        }
        Ok(DecodeProgress::Content)
    }

    fn finish_block(
        &mut self,
        open: OpenBlock,
        stream: &dyn ReplyObserver,
    ) -> Result<(), CallError> {
        match open.finish() {
            FinishedBlock::Block(block) => self.reply.push_block(block, stream),
            FinishedBlock::Call(call) => self.reply.push_call(call, stream),
        }
    }

    fn on_message_delta(&mut self, event: &MessagesEvent<'_>) -> DecodeProgress {
        if let Some(usage) = event.usage {
            self.usage.merge(MessagesUsage::parse(usage.get()).to_reported());
        }
        if let Some(delta) = &event.delta {
            self.stop_reason =
                delta.stop_reason.as_deref().map(Arc::from).or(self.stop_reason.take());
            self.stop_sequence =
                delta.stop_sequence.as_deref().map(Arc::from).or(self.stop_sequence.take());
        }
        DecodeProgress::Content
    }

    /// Handles the end of a message that was parsed by the fast path.
    fn on_fast_message_end(&mut self, end: &MessageEnd<'_>) -> DecodeProgress {
        self.usage.merge(end.usage.to_reported());
        self.stop_reason = Some(Arc::from(&*end.delta.stop_reason));
        let sequence = end.delta.stop_sequence.as_deref();
        self.stop_sequence = sequence.map(Arc::from).or(self.stop_sequence.take());
        DecodeProgress::Content
    }

    fn on_message_stop(&mut self, stream: &dyn ReplyObserver) -> Result<DecodeProgress, CallError> {
        for open in std::mem::take(&mut self.open) {
            self.finish_block(open, stream)?;
        }
        self.stopped = true;
        Ok(DecodeProgress::Done)
    }

    fn decode_data(
        &mut self,
        data: &str,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodeProgress, CallError> {
        if let Some(event) = fast_events::parse_fast_event(data) {
            return self.on_fast_event(&event, data, stream);
        }
        if let Some(used) = fast_message_events::parse_message_start(data) {
            return Ok(self.record_start(&used));
        }
        if let Some(end) = fast_message_events::parse_message_end(data) {
            return Ok(self.on_fast_message_end(&end));
        }
        let event: MessagesEvent<'_> =
            serde_json::from_str(data).map_err(|error| CallError::invalid_event_json(&error))?;
        match event.kind.as_ref() {
            "message_start" => Ok(self.on_message_start(&event)),
            "content_block_start" => self.on_block_start(&event),
            "content_block_delta" => self.on_block_delta(&event, data, stream),
            "content_block_stop" => self.on_block_stop(event.index, stream),
            "message_delta" => Ok(self.on_message_delta(&event)),
            "message_stop" => self.on_message_stop(stream),
            "error" => {
                Err(errors::error_from_event(event.error.map(|error| error.get()).unwrap_or(data)))
            }
            // Pings and unknown events.
            _ => Ok(DecodeProgress::Keepalive),
        }
    }

    fn into_reply(mut self) -> DecodedReply {
        let name = self.stop_reason.unwrap_or_else(|| Arc::from("end_turn"));
        let stop_reason = StopReason::from(name);
        let ending = match stop_reason {
            StopReason::MaxTokens | StopReason::ContextWindowExceeded => OutputEnd::OutputLimit,
            _ => OutputEnd::Other,
        };
        let usage =
            self.context.usage_or_estimate(self.usage, self.reply.bytes(), &mut self.envelope);
        let (blocks, truncated_block) = self.reply.finish(ending);
        let stop_reason = match (stop_reason, &truncated_block) {
            // A truncated call means that the reply is not finished, whatever the server reports.
            (StopReason::EndTurn, Some(_)) => StopReason::ToolUse,
            (said, _) => said,
        };
        let stop_sequence = self.stop_sequence;
        let reply = ModelReply {
            blocks,
            truncated_block,
            stop_reason,
            stop_sequence,
            usage,
            envelope: None,
        };
        DecodedReply { reply, envelope: self.envelope }
    }
}

impl StreamDecoder for MessagesDecoder {
    fn decode_event(
        &mut self,
        event: &sse::SseEvent<'_>,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodeProgress, CallError> {
        let data = event.data.as_ref();
        let progress = self.decode_data(data, stream)?;
        if progress != DecodeProgress::Keepalive && stream.wants_events() {
            reply_events::forward_event(data, stream);
        }
        Ok(progress)
    }

    fn has_started(&self) -> bool {
        self.has_started
    }

    fn finish(mut self: Box<Self>, _stream: &dyn ReplyObserver) -> Result<DecodedReply, CallError> {
        if !self.stopped {
            let position = if self.open.is_empty() { "between blocks" } else { "inside a block" };
            return Err(CallError::StreamCut(position.to_owned()));
        }
        if self.stop_reason.is_none() {
            self.envelope.add_notice(CallNotice::StopReasonMissing);
        }
        Ok(self.into_reply())
    }
}

/// The usage in a message; empty if it cannot be parsed.
fn parse_message_usage(message: &str) -> MessagesUsage {
    #[derive(Default, serde::Deserialize)]
    struct MessageUsage {
        usage: Option<MessagesUsage>,
    }
    let message: MessageUsage = serde_json::from_str(message).unwrap_or_default();
    message.usage.unwrap_or_default()
}
