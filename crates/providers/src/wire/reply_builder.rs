//! Builds a reply from streamed blocks, in the same way for every wire format.
//!
//! A call is classified by the text of its arguments alone: complete JSON is a call, text that
//! breaks off is a truncated call, and neither is ever repaired. Whatever stop reason the provider
//! gives cannot turn a truncated call into a call.

use std::sync::Arc;

use windlass_core::message::content_block::{ContentBlock, ToolUse};
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::TruncatedBlock;
use windlass_runtime::ports::ReplyObserver;

use crate::error::call_error::CallError;
use crate::limits::MAX_REPLY_BYTES;
use crate::wire::reply_events::EventContent;

/// The overhead counted for a block besides its text, so that a flood of empty ones is bounded too.
const BLOCK_OVERHEAD_BYTES: usize = 256;

/// The blocks of a reply, as they become complete.
#[derive(Debug, Default)]
pub(crate) struct ReplyBuilder {
    parts: Vec<ReplyPart>,
    bytes: usize,
    has_uncertain_call: bool,
}

#[derive(Debug)]
enum ReplyPart {
    Complete(ContentBlock),
    Uncertain(StreamedCall),
}

/// A tool call as it was streamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamedCall {
    /// The name of the tool.
    pub(crate) name: Arc<str>,
    /// The arguments as far as they arrived; empty if none did.
    pub(crate) input: String,
    /// The JSON around the arguments.
    pub(crate) frame: CallFrame,
}

/// The JSON around a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallFrame {
    /// Type, id and name, as our own encoder writes them.
    Standard { id: Arc<str> },
    /// The JSON before and after the arguments, as it came.
    Verbatim { before: String, after: String },
}

/// Why the output ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputEnd {
    /// The output limit was reached: a call without arguments may have lost them.
    OutputLimit,
    /// Any other reason.
    Other,
}

impl ReplyBuilder {
    /// Counts bytes that arrived; a reply that exceeds the limit is an error.
    pub(crate) fn count_bytes(&mut self, bytes: usize) -> Result<(), CallError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_REPLY_BYTES { Err(CallError::ReplyTooLarge) } else { Ok(()) }
    }

    /// The number of bytes counted so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of blocks and calls.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// The content of the blocks and calls from this position on, for events.
    pub(crate) fn contents_from(&self, first: usize) -> impl Iterator<Item = EventContent<'_>> {
        self.parts.iter().skip(first).map(ReplyPart::event_content)
    }

    /// Adds a block that is not a call.
    pub(crate) fn push_block(
        &mut self,
        block: ContentBlock,
        stream: &dyn ReplyObserver,
    ) -> Result<(), CallError> {
        self.count_bytes(BLOCK_OVERHEAD_BYTES)?;
        self.announce_block(&block, stream);
        self.parts.push(ReplyPart::Complete(block));
        Ok(())
    }

    /// Adds a call. One that is certainly complete is announced at once.
    pub(crate) fn push_call(
        &mut self,
        call: StreamedCall,
        stream: &dyn ReplyObserver,
    ) -> Result<(), CallError> {
        self.count_bytes(BLOCK_OVERHEAD_BYTES)?;
        let part = match classify_input_json(&call.input) {
            InputJson::Complete(input) => match call.with_input(input) {
                Some(block) => {
                    self.announce_block(&block, stream);
                    ReplyPart::Complete(block)
                }
                None => ReplyPart::Uncertain(call),
            },
            InputJson::Empty | InputJson::Truncated | InputJson::Invalid => {
                ReplyPart::Uncertain(call)
            }
        };
        self.has_uncertain_call |= matches!(part, ReplyPart::Uncertain(_));
        self.parts.push(part);
        Ok(())
    }

    /// Returns whether there is any call, complete or not.
    pub(crate) fn has_calls(&self) -> bool {
        self.parts.iter().any(ReplyPart::is_call)
    }

    /// Announces a complete block, unless its index is not certain yet: an uncertain call before it
    /// may turn out not to be a block.
    fn announce_block(&self, block: &ContentBlock, stream: &dyn ReplyObserver) {
        if self.has_uncertain_call {
            return;
        }
        if let Ok(index) = u16::try_from(self.parts.len()) {
            stream.on_block(index, block);
        }
    }

    /// Returns the blocks, and the truncated call at the end.
    pub(crate) fn finish(self, ending: OutputEnd) -> (Vec<ContentBlock>, Option<TruncatedBlock>) {
        let last = self.parts.iter().rposition(ReplyPart::is_call);
        let mut cut = None;
        let mut blocks = Vec::with_capacity(self.parts.len());
        for (at, part) in self.parts.into_iter().enumerate() {
            match part {
                ReplyPart::Complete(block) => blocks.push(block),
                ReplyPart::Uncertain(call) if Some(at) == last && call.is_truncated(ending) => {
                    cut = Some(TruncatedBlock { name: call.name, partial: Arc::from(call.input) });
                }
                ReplyPart::Uncertain(call) => blocks.extend(call.to_block_with_raw_input()),
            }
        }
        (blocks, cut)
    }
}

impl ReplyPart {
    fn is_call(&self) -> bool {
        match self {
            Self::Complete(block) => block.as_tool_use().is_some(),
            Self::Uncertain(_) => true,
        }
    }

    fn event_content(&self) -> EventContent<'_> {
        match self {
            Self::Complete(block) => EventContent::from_block(block),
            Self::Uncertain(call) => call.event_content(),
        }
    }
}

impl StreamedCall {
    /// Creates a call in our own shape, for formats whose calls are not blocks.
    pub(crate) fn new(id: &str, name: &str, input: String) -> Self {
        Self { name: Arc::from(name), input, frame: CallFrame::Standard { id: Arc::from(id) } }
    }

    /// The block with these arguments.
    fn with_input(&self, input: RawJson) -> Option<ContentBlock> {
        match &self.frame {
            CallFrame::Standard { id } => {
                let (id, name) = (Arc::clone(id), Arc::clone(&self.name));
                Some(ContentBlock::from_tool_use(ToolUse { id, name, input }))
            }
            CallFrame::Verbatim { before, after } => {
                let text = [before.as_str(), input.text(), after.as_str()].concat();
                RawJson::parse(text).ok().map(ContentBlock::new)
            }
        }
    }

    fn event_content(&self) -> EventContent<'_> {
        let id = match &self.frame {
            CallFrame::Standard { id } => id,
            CallFrame::Verbatim { .. } => "",
        };
        EventContent::Call { id, name: &self.name, input: &self.input }
    }

    fn is_truncated(&self, ending: OutputEnd) -> bool {
        match classify_input_json(&self.input) {
            InputJson::Truncated => true,
            InputJson::Empty => ending == OutputEnd::OutputLimit,
            InputJson::Complete(_) | InputJson::Invalid => false,
        }
    }

    /// The block of a call that cannot be run: its raw text is kept as its input, so that it is
    /// answered with an error and the model sees what it sent.
    fn to_block_with_raw_input(&self) -> Option<ContentBlock> {
        match classify_input_json(&self.input) {
            InputJson::Empty => self.with_input(RawJson::parse("{}").ok()?),
            InputJson::Complete(input) => self.with_input(input),
            InputJson::Truncated | InputJson::Invalid => {
                self.with_input(RawJson::string(&self.input))
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum InputJson {
    /// One JSON value, without surrounding whitespace.
    Complete(RawJson),
    /// No text: many servers send this for "no arguments".
    Empty,
    /// JSON that breaks off.
    Truncated,
    /// Not JSON.
    Invalid,
}

fn classify_input_json(input: &str) -> InputJson {
    if input.trim().is_empty() {
        return InputJson::Empty;
    }
    match serde_json::from_str(input) {
        Ok(input) => InputJson::Complete(input),
        Err(error) if error.is_eof() => InputJson::Truncated,
        Err(_) => InputJson::Invalid,
    }
}
