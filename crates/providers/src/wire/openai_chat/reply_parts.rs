//! The parts of a chat reply in the order they first appeared: reasoning, text, calls.
//!
//! A part is final when a later one has started and nothing can be added to it: a call, when its
//! arguments are one JSON value. Therefore calls that are streamed interleaved work, too.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::value::RawValue;
use windlass_core::message::content_block::ContentBlock;
use windlass_runtime::ports::ReplyObserver;

use super::chunk::ToolCallDelta;
use crate::error::call_error::CallError;
use crate::json::json_string;
use crate::limits::MAX_OPEN_BLOCKS;
use crate::wire::decode_context::DecodeContext;
use crate::wire::foreign_blocks;
use crate::wire::reply_builder::{ReplyBuilder, StreamedCall};
use crate::wire::reply_events::{EventBlock, EventContent, ReplyEventWriter};
use crate::wire::stop_strings::StopStringMatcher;

/// The overhead counted for a part besides its text, so that a flood of empty ones is bounded too.
const PART_OVERHEAD_BYTES: usize = 64;

#[derive(Debug)]
pub(super) struct ChatReplyParts {
    model: Arc<str>,
    model_call: u32,
    reply: ReplyBuilder,
    events: ReplyEventWriter,
    open: VecDeque<ChatPart>,
    calls: u64,
    finished_calls: Vec<u64>,
}

#[derive(Debug)]
enum ChatPart {
    /// Escaped text.
    Text(String, EventBlock),
    /// Escaped reasoning, and the field it came in.
    Reasoning(&'static str, String, EventBlock),
    Call(OpenChatCall),
}

#[derive(Debug)]
struct OpenChatCall {
    index: u64,
    id: String,
    name: String,
    input: String,
    /// The number of bytes of the input when it was last found to be incomplete: it is not parsed
    /// again before there is more of it.
    incomplete_at: Option<usize>,
    /// The block in the events; it starts when the name of the tool is known.
    event_block: Option<EventBlock>,
    /// The number of bytes of the input that were written as events.
    written: usize,
}

impl ChatReplyParts {
    pub(super) fn new(context: &DecodeContext) -> Self {
        Self {
            model: Arc::clone(&context.model),
            model_call: context.model_call,
            reply: ReplyBuilder::default(),
            events: ReplyEventWriter::default(),
            open: VecDeque::new(),
            calls: 0,
            finished_calls: Vec::new(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.reply.bytes()
    }

    /// Starts the events of the reply with its first chunk.
    pub(super) fn start_events(
        &mut self,
        chunk: &str,
        context: &DecodeContext,
        stream: &dyn ReplyObserver,
    ) {
        self.events.start_message(chunk, context, stream);
    }

    pub(super) fn push_text(
        &mut self,
        item: &RawValue,
        stream: &dyn ReplyObserver,
    ) -> Result<(), CallError> {
        let Some(chunk) = json_string::raw_string_contents(item) else {
            return self.push_content_list(item, stream);
        };
        self.reply.count_bytes(chunk.len())?;
        let block = match self.open.back_mut() {
            Some(ChatPart::Text(text, block)) => {
                text.push_str(chunk);
                *block
            }
            _ => self.open_text(chunk, stream)?,
        };
        if self.events.has_started() {
            let text = json_string::decode_raw_string(item).unwrap_or_default();
            self.events.write_text(block, &text, stream);
        }
        Ok(())
    }

    fn open_text(
        &mut self,
        chunk: &str,
        stream: &dyn ReplyObserver,
    ) -> Result<EventBlock, CallError> {
        self.prepare_part(stream)?;
        let block = self.events.open_block(&EventContent::Text("".into()), stream);
        self.open.push_back(ChatPart::Text(chunk.to_owned(), block));
        Ok(block)
    }

    /// Adds content given as a list of parts, as some servers send it.
    fn push_content_list(
        &mut self,
        parts: &RawValue,
        stream: &dyn ReplyObserver,
    ) -> Result<(), CallError> {
        #[derive(serde::Deserialize)]
        struct ContentListPiece<'a> {
            #[serde(borrow)]
            text: Option<&'a RawValue>,
            #[serde(borrow)]
            thinking: Option<Vec<ContentListPiece<'a>>>,
        }
        let pieces: Vec<ContentListPiece<'_>> =
            serde_json::from_str(parts.get()).unwrap_or_default();
        for piece in &pieces {
            for text in
                piece.text.iter().filter(|text| json_string::raw_string_contents(text).is_some())
            {
                self.push_text(text, stream)?;
            }
            for thought in piece.thinking.iter().flatten().filter_map(|piece| piece.text) {
                self.push_reasoning("content", thought, stream)?;
            }
        }
        Ok(())
    }

    pub(super) fn push_reasoning(
        &mut self,
        field: &'static str,
        item: &RawValue,
        stream: &dyn ReplyObserver,
    ) -> Result<(), CallError> {
        let Some(escaped) = json_string::raw_string_contents(item) else { return Ok(()) };
        self.reply.count_bytes(escaped.len())?;
        stream.on_thinking(&json_string::decode_raw_string(item).unwrap_or_default());
        let block = match self.open.back_mut() {
            Some(ChatPart::Reasoning(known, text, block)) if *known == field => {
                text.push_str(escaped);
                *block
            }
            _ => self.open_reasoning(field, escaped, stream)?,
        };
        if self.events.has_started() {
            let text = json_string::decode_raw_string(item).unwrap_or_default();
            self.events.write_thinking(block, &text, stream);
        }
        Ok(())
    }

    fn open_reasoning(
        &mut self,
        field: &'static str,
        escaped: &str,
        stream: &dyn ReplyObserver,
    ) -> Result<EventBlock, CallError> {
        self.prepare_part(stream)?;
        let content = EventContent::Thinking { thinking: "".into(), signature: None };
        let block = self.events.open_block(&content, stream);
        self.open.push_back(ChatPart::Reasoning(field, escaped.to_owned(), block));
        Ok(block)
    }

    pub(super) fn push_call_delta(
        &mut self,
        delta: &ToolCallDelta<'_>,
        stream: &dyn ReplyObserver,
    ) -> Result<(), CallError> {
        let index = self.call_index(delta);
        if !self.open.iter().any(|part| part.is_call(index)) {
            if self.finished_calls.contains(&index) {
                return check_late_delta(delta);
            }
            let id = delta.id.as_deref().filter(|id| !id.is_empty()).map(str::to_owned);
            let id = id.unwrap_or_else(|| format!("call_{}_{}", self.model_call, self.calls));
            self.calls += 1;
            self.prepare_part(stream)?;
            self.open.push_back(ChatPart::Call(OpenChatCall::new(index, id)));
        }
        let arguments = delta.function.as_ref().and_then(|function| function.arguments);
        self.reply.count_bytes(arguments.map_or(0, |arguments| arguments.get().len()))?;
        let call = self.open.iter_mut().find_map(|part| part.call_mut(index));
        if let Some(call) = call {
            call.apply_delta(delta);
            if !call.name.is_empty() {
                call.write_events(&mut self.events, stream);
            }
        }
        Ok(())
    }

    /// The index of the call that a delta belongs to, also where the server does not number calls.
    fn call_index(&self, delta: &ToolCallDelta<'_>) -> u64 {
        if let Some(index) = delta.index {
            return index;
        }
        let last = self.open.iter().rev().find_map(|part| match part {
            ChatPart::Call(call) => Some(call),
            ChatPart::Text(..) | ChatPart::Reasoning(..) => None,
        });
        let is_new = |call: &OpenChatCall| {
            delta.id.as_deref().is_some_and(|id| !id.is_empty() && id != call.id)
        };
        match last {
            Some(call) if !is_new(call) => call.index,
            Some(_) | None => self.calls,
        }
    }

    /// Finishes the parts that nothing can be added to any more, because another one starts.
    fn prepare_part(&mut self, stream: &dyn ReplyObserver) -> Result<(), CallError> {
        self.reply.count_bytes(PART_OVERHEAD_BYTES)?;
        if self.open.len() >= MAX_OPEN_BLOCKS {
            return Err(CallError::malformed_stream("too many open calls"));
        }
        while self.open.front_mut().is_some_and(ChatPart::is_complete) {
            self.finish_first(stream)?;
        }
        Ok(())
    }

    fn finish_first(&mut self, stream: &dyn ReplyObserver) -> Result<(), CallError> {
        match self.open.pop_front() {
            Some(ChatPart::Text(text, block)) => {
                self.events.close_block(block, stream);
                let block = ContentBlock::text(&json_string::decode_escaped(&text));
                self.reply.push_block(block, stream)
            }
            Some(ChatPart::Reasoning(field, text, block)) => {
                self.events.close_block(block, stream);
                match foreign_blocks::chat_thinking_block(&text, &self.model, field) {
                    Some(block) => self.reply.push_block(block, stream),
                    None => Ok(()),
                }
            }
            Some(ChatPart::Call(mut call)) => {
                let block = call.write_events(&mut self.events, stream);
                self.events.close_block(block, stream);
                self.finished_calls.push(call.index);
                self.reply.push_call(StreamedCall::new(&call.id, &call.name, call.input), stream)
            }
            None => Ok(()),
        }
    }

    /// Truncates the text at the first stop string it contains, if there is one.
    pub(super) fn truncate_at_stop(
        &mut self,
        watch: &StopStringMatcher,
        stream: &dyn ReplyObserver,
    ) -> Option<Arc<str>> {
        let Some(ChatPart::Text(text, block)) = self.open.back_mut() else { return None };
        let whole = json_string::decode_escaped(text);
        let (before, stop) = watch.split_at_stop(&whole)?;
        let mut escaped = Vec::new();
        json_string::push_escaped(&mut escaped, before);
        *text = String::from_utf8(escaped).unwrap_or_default();
        if text.is_empty() {
            self.events.close_block(*block, stream);
            self.open.pop_back();
        }
        Some(stop)
    }

    /// Finishes all parts; the events lack only the end of the message.
    pub(super) fn finish(
        mut self,
        stream: &dyn ReplyObserver,
    ) -> Result<(ReplyBuilder, ReplyEventWriter), CallError> {
        while !self.open.is_empty() {
            self.finish_first(stream)?;
        }
        Ok((self.reply, self.events))
    }
}

impl ChatPart {
    fn is_call(&self, index: u64) -> bool {
        matches!(self, Self::Call(call) if call.index == index)
    }

    fn call_mut(&mut self, index: u64) -> Option<&mut OpenChatCall> {
        match self {
            Self::Call(call) if call.index == index => Some(call),
            Self::Call(_) | Self::Text(..) | Self::Reasoning(..) => None,
        }
    }

    fn is_complete(&mut self) -> bool {
        match self {
            Self::Text(..) | Self::Reasoning(..) => true,
            Self::Call(call) => call.is_complete(),
        }
    }
}

impl OpenChatCall {
    fn new(index: u64, id: String) -> Self {
        let (name, input) = (String::new(), String::new());
        Self { index, id, name, input, incomplete_at: None, event_block: None, written: 0 }
    }

    /// Writes what is new of the call as events.
    fn write_events(
        &mut self,
        events: &mut ReplyEventWriter,
        stream: &dyn ReplyObserver,
    ) -> EventBlock {
        let content = EventContent::Call { id: &self.id, name: &self.name, input: &self.input };
        let block = *self.event_block.get_or_insert_with(|| events.open_block(&content, stream));
        events.write_rest(block, (&content, self.written), stream);
        self.written = self.input.len();
        block
    }

    fn is_complete(&mut self) -> bool {
        if self.incomplete_at == Some(self.input.len()) {
            return false;
        }
        let is_complete = serde_json::from_str::<&RawValue>(&self.input).is_ok();
        self.incomplete_at = (!is_complete).then_some(self.input.len());
        is_complete
    }

    fn apply_delta(&mut self, delta: &ToolCallDelta<'_>) {
        let Some(function) = &delta.function else { return };
        if let Some(name) = function.name.as_deref().filter(|_| self.name.is_empty()) {
            name.clone_into(&mut self.name);
        }
        match function.arguments {
            None => {}
            Some(arguments) if arguments.get() == "null" => {}
            Some(arguments) => match json_string::decode_raw_string(arguments) {
                Some(chunk) => self.input.push_str(&chunk),
                None => arguments.get().clone_into(&mut self.input),
            },
        }
    }
}

/// Rejects arguments for a final call, which may have been started already.
fn check_late_delta(delta: &ToolCallDelta<'_>) -> Result<(), CallError> {
    let piece = delta.function.as_ref().and_then(|function| function.arguments);
    let chunk = piece.and_then(json_string::decode_raw_string).unwrap_or_default();
    if chunk.trim().is_empty() {
        return Ok(());
    }
    Err(CallError::malformed_stream("arguments after the end of a call"))
}
