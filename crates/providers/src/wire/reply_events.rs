//! The events of a reply, as they are handed on to readers: in the form of Anthropic's stream,
//! whatever the wire format.
//!
//! Events of that form are forwarded byte for byte. For the other formats they are written here,
//! while the reply arrives: blocks are numbered in the order in which they start, several may be
//! open at once, and each has the pieces in which it came.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use windlass_core::message::content_block::{BlockKind, ContentBlock};
use windlass_core::message::reply::{ModelReply, TokenUsage};
use windlass_runtime::ports::ReplyObserver;

use crate::wire::decode_context::DecodeContext;

/// Hands on an event that came in the right form. A line break, which JSON can have only between
/// tokens, becomes a space.
pub(crate) fn forward_event(event: &str, stream: &dyn ReplyObserver) {
    match memchr::memchr2(b'\n', b'\r', event.as_bytes()) {
        None => stream.on_event(event),
        Some(_) => stream.on_event(&event.replace(['\n', '\r'], " ")),
    }
}

/// Writes the events of a reply that came in another form.
#[derive(Debug, Default)]
pub(crate) struct ReplyEventWriter {
    /// Whether the message has started. It never does if no reader wants events.
    has_started: bool,
    opened_blocks: u64,
}

/// The index of a block in the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventBlock(u64);

/// A block, as it starts or as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EventContent<'a> {
    Text(Cow<'a, str>),
    Thinking {
        thinking: Cow<'a, str>,
        signature: Option<Cow<'a, str>>,
    },
    Call {
        id: &'a str,
        name: &'a str,
        input: &'a str,
    },
    /// A block that has no pieces.
    Other(&'a str),
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventBlockKind {
    Text,
    Thinking,
    Call,
    Other,
}

/// The id and the model of a message, where the server gives them.
#[derive(Debug, Default, Deserialize)]
struct MessageHead<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum EventBody<'a> {
    MessageStart { message: StartedMessage<'a> },
    ContentBlockStart { index: u64, content_block: StartedBlock<'a> },
    ContentBlockDelta { index: u64, delta: BlockDelta<'a> },
    ContentBlockStop { index: u64 },
    MessageDelta { delta: StopDelta<'a>, usage: EventUsage },
    MessageStop,
}

#[derive(Serialize)]
struct StartedMessage<'a> {
    id: &'a str,
    r#type: &'a str,
    role: &'a str,
    model: &'a str,
    content: [(); 0],
    stop_reason: Option<&'a str>,
    stop_sequence: Option<&'a str>,
    usage: EventUsage,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum StartedBlock<'a> {
    Text { text: &'a str },
    Thinking { thinking: &'a str, signature: &'a str },
    ToolUse { id: &'a str, name: &'a str, input: EmptyInput },
}

#[derive(Serialize)]
struct EmptyInput {}

/// The start of a block that is complete.
#[derive(Serialize)]
struct WholeBlockStart<'a> {
    r#type: &'a str,
    index: u64,
    content_block: &'a RawValue,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "the events call them so")]
enum BlockDelta<'a> {
    TextDelta { text: &'a str },
    ThinkingDelta { thinking: &'a str },
    SignatureDelta { signature: &'a str },
    InputJsonDelta { partial_json: &'a str },
}

#[derive(Serialize)]
struct StopDelta<'a> {
    stop_reason: &'a str,
    stop_sequence: Option<&'a str>,
}

#[derive(Default, Serialize)]
struct EventUsage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
}

impl From<&TokenUsage> for EventUsage {
    fn from(usage: &TokenUsage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            cache_creation_input_tokens: usage.cache_write_tokens,
            cache_read_input_tokens: usage.cache_read_tokens,
            output_tokens: usage.output_tokens,
        }
    }
}

impl ReplyEventWriter {
    /// Starts the message, unless it has started or no reader wants events. `json` is an object that
    /// has the id and the model of the message.
    pub(crate) fn start_message(
        &mut self,
        json: &str,
        context: &DecodeContext,
        stream: &dyn ReplyObserver,
    ) {
        if self.has_started || !stream.wants_events() {
            return;
        }
        self.has_started = true;
        let head: MessageHead<'_> = serde_json::from_str(json).unwrap_or_default();
        let is_given = |text: &Cow<'_, str>| !text.is_empty();
        let id = head.id.filter(is_given);
        let id = id.unwrap_or_else(|| format!("msg_{}", context.model_call).into());
        let model = head.model.filter(is_given);
        let message = StartedMessage {
            id: &id,
            r#type: "message",
            role: "assistant",
            model: model.as_deref().unwrap_or(&context.model),
            content: [],
            stop_reason: None,
            stop_sequence: None,
            usage: EventUsage::default(),
        };
        self.write(&EventBody::MessageStart { message }, stream);
    }

    /// Returns whether events are written.
    pub(crate) fn has_started(&self) -> bool {
        self.has_started
    }

    /// Starts a block without its content.
    pub(crate) fn open_block(
        &mut self,
        content: &EventContent<'_>,
        stream: &dyn ReplyObserver,
    ) -> EventBlock {
        let index = self.opened_blocks;
        self.opened_blocks += 1;
        let content_block = match content {
            EventContent::Text(_) => StartedBlock::Text { text: "" },
            EventContent::Thinking { .. } => StartedBlock::Thinking { thinking: "", signature: "" },
            EventContent::Call { id, name, .. } => {
                StartedBlock::ToolUse { id, name, input: EmptyInput {} }
            }
            EventContent::Other(raw) => {
                self.write_whole_start(index, raw, stream);
                return EventBlock(index);
            }
        };
        self.write(&EventBody::ContentBlockStart { index, content_block }, stream);
        EventBlock(index)
    }

    fn write_whole_start(&self, index: u64, raw: &str, stream: &dyn ReplyObserver) {
        if let Ok(content_block) = serde_json::from_str(raw) {
            let r#type = "content_block_start";
            self.write(&WholeBlockStart { r#type, index, content_block }, stream);
        }
    }

    /// Writes a piece of text.
    pub(crate) fn write_text(&self, block: EventBlock, text: &str, stream: &dyn ReplyObserver) {
        self.write_delta(block, BlockDelta::TextDelta { text }, stream);
    }

    /// Writes a piece of thinking.
    pub(crate) fn write_thinking(&self, block: EventBlock, text: &str, stream: &dyn ReplyObserver) {
        self.write_delta(block, BlockDelta::ThinkingDelta { thinking: text }, stream);
    }

    /// Writes a piece of a call's input.
    pub(crate) fn write_input(&self, block: EventBlock, json: &str, stream: &dyn ReplyObserver) {
        self.write_delta(block, BlockDelta::InputJsonDelta { partial_json: json }, stream);
    }

    /// Writes the content of a block behind its first `written` bytes.
    pub(crate) fn write_rest(
        &self,
        block: EventBlock,
        (content, written): (&EventContent<'_>, usize),
        stream: &dyn ReplyObserver,
    ) {
        let rest = content.text().get(written..).filter(|rest| !rest.is_empty());
        match (content, rest) {
            (EventContent::Text(_), Some(rest)) => self.write_text(block, rest, stream),
            (EventContent::Thinking { .. }, Some(rest)) => self.write_thinking(block, rest, stream),
            (EventContent::Call { .. }, Some(rest)) => self.write_input(block, rest, stream),
            (EventContent::Other(_), _) | (_, None) => {}
        }
        if let EventContent::Thinking { signature: Some(signature), .. } = content {
            self.write_delta(block, BlockDelta::SignatureDelta { signature }, stream);
        }
    }

    fn write_delta(&self, block: EventBlock, delta: BlockDelta<'_>, stream: &dyn ReplyObserver) {
        self.write(&EventBody::ContentBlockDelta { index: block.0, delta }, stream);
    }

    /// Ends a block.
    pub(crate) fn close_block(&self, block: EventBlock, stream: &dyn ReplyObserver) {
        self.write(&EventBody::ContentBlockStop { index: block.0 }, stream);
    }

    /// Writes a block that is complete.
    pub(crate) fn write_block(&mut self, content: &EventContent<'_>, stream: &dyn ReplyObserver) {
        let block = self.open_block(content, stream);
        self.write_rest(block, (content, 0), stream);
        self.close_block(block, stream);
    }

    /// Ends the message of a reply, all of whose blocks have ended.
    pub(crate) fn end_message(&self, reply: &ModelReply, stream: &dyn ReplyObserver) {
        let delta = StopDelta {
            stop_reason: reply.stop_reason.as_str(),
            stop_sequence: reply.stop_sequence.as_deref(),
        };
        self.write(&EventBody::MessageDelta { delta, usage: (&reply.usage).into() }, stream);
        self.write(&EventBody::MessageStop, stream);
    }

    fn write(&self, event: &impl Serialize, stream: &dyn ReplyObserver) {
        if !self.has_started {
            return;
        }
        if let Ok(event) = serde_json::to_string(event) {
            forward_event(&event, stream);
        }
    }
}

impl<'a> EventContent<'a> {
    /// The content of a complete block.
    pub(crate) fn from_block(block: &'a ContentBlock) -> Self {
        match block.kind() {
            BlockKind::Text(text) => Self::Text(Cow::Borrowed(text)),
            BlockKind::ToolUse(call) => {
                Self::Call { id: &call.id, name: &call.name, input: call.input.text() }
            }
            BlockKind::Other(kind) if &**kind == "thinking" => Self::from_thinking(block),
            BlockKind::Other(_) | BlockKind::ToolResult { .. } => Self::Other(block.raw().text()),
        }
    }

    fn from_thinking(block: &'a ContentBlock) -> Self {
        #[derive(Deserialize)]
        struct ThinkingFields<'a> {
            #[serde(borrow)]
            thinking: Cow<'a, str>,
            #[serde(borrow)]
            signature: Option<Cow<'a, str>>,
        }
        match block.raw().read::<ThinkingFields<'a>>() {
            Ok(ThinkingFields { thinking, signature }) => Self::Thinking { thinking, signature },
            Err(_) => Self::Other(block.raw().text()),
        }
    }

    pub(crate) fn kind(&self) -> EventBlockKind {
        match self {
            Self::Text(_) => EventBlockKind::Text,
            Self::Thinking { .. } => EventBlockKind::Thinking,
            Self::Call { .. } => EventBlockKind::Call,
            Self::Other(_) => EventBlockKind::Other,
        }
    }

    /// The text of which the pieces are parts.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Thinking { thinking: text, .. } => text,
            Self::Call { input, .. } => input,
            Self::Other(_) => "",
        }
    }
}
