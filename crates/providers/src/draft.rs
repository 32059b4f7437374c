//! A reply being put together, the same way for every wire format.
//!
//! A call is judged by the text of its arguments and by nothing else: complete JSON is a call,
//! text that breaks off is a cut, and neither is ever repaired. Whatever the provider says about
//! why it stopped cannot turn a cut into a call.

use std::sync::Arc;

use windlass_core::block::{Block, ToolUse};
use windlass_core::raw::Raw;
use windlass_core::reply::CutBlock;
use windlass_runtime::ports::Stream;

use crate::fault::Fault;
use crate::limits::REPLY_BYTES;

/// What a block costs besides its text, so that a flood of empty ones is bounded too.
const BLOCK_BYTES: usize = 256;

/// Blocks as they become complete.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    parts: Vec<Part>,
    bytes: usize,
    in_doubt: bool,
}

#[derive(Debug)]
enum Part {
    Whole(Block),
    Doubtful(Call),
}

/// A tool call as it was streamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// Which tool.
    pub(crate) name: Arc<str>,
    /// The arguments as far as they came; empty if none did.
    pub(crate) input: String,
    /// The rest of it.
    pub(crate) around: Around,
}

/// What stands around a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Around {
    /// Type, id and name, as we would write them.
    Usual { id: Arc<str> },
    /// JSON before and after them, as it came.
    Other { before: String, after: String },
}

/// What the output ended by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The output limit: a call without arguments may have lost them.
    Limit,
    /// Anything else.
    Other,
}

impl Draft {
    /// Counts what arrived; a reply without end is an error.
    pub(crate) fn count(&mut self, bytes: usize) -> Result<(), Fault> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > REPLY_BYTES { Err(Fault::ReplyTooLarge) } else { Ok(()) }
    }

    /// Bytes counted so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many blocks and calls there are.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Adds a block that is no call.
    pub(crate) fn block(&mut self, block: Block, stream: &dyn Stream) -> Result<(), Fault> {
        self.count(BLOCK_BYTES)?;
        self.announce(&block, stream);
        self.parts.push(Part::Whole(block));
        Ok(())
    }

    /// Adds a call. One that is complete without doubt is announced at once.
    pub(crate) fn call(&mut self, call: Call, stream: &dyn Stream) -> Result<(), Fault> {
        self.count(BLOCK_BYTES)?;
        let part = match judge(&call.input) {
            Judgement::Whole(input) => match call.with(input) {
                Some(block) => {
                    self.announce(&block, stream);
                    Part::Whole(block)
                }
                None => Part::Doubtful(call),
            },
            Judgement::Empty | Judgement::Cut | Judgement::Broken => Part::Doubtful(call),
        };
        self.in_doubt |= matches!(part, Part::Doubtful(_));
        self.parts.push(part);
        Ok(())
    }

    /// Whether any call is there, complete or not.
    pub(crate) fn has_calls(&self) -> bool {
        self.parts.iter().any(Part::is_call)
    }

    /// Says that a block is complete, unless its place is not certain yet: a call in doubt may
    /// still turn out to be no block at all.
    fn announce(&self, block: &Block, stream: &dyn Stream) {
        if self.in_doubt {
            return;
        }
        if let Ok(index) = u16::try_from(self.parts.len()) {
            stream.block(index, block);
        }
    }

    /// The blocks, and the call that broke off at the end.
    pub(crate) fn close(self, ending: Ending) -> (Vec<Block>, Option<CutBlock>) {
        let last = self.parts.iter().rposition(Part::is_call);
        let mut cut = None;
        let mut blocks = Vec::with_capacity(self.parts.len());
        for (at, part) in self.parts.into_iter().enumerate() {
            match part {
                Part::Whole(block) => blocks.push(block),
                Part::Doubtful(call) if Some(at) == last && call.broke_off(ending) => {
                    cut = Some(CutBlock { name: call.name, partial: Arc::from(call.input) });
                }
                Part::Doubtful(call) => blocks.extend(call.as_it_is()),
            }
        }
        (blocks, cut)
    }
}

impl Part {
    fn is_call(&self) -> bool {
        match self {
            Self::Whole(block) => block.as_tool_use().is_some(),
            Self::Doubtful(_) => true,
        }
    }
}

impl Call {
    /// A call in our own shape, for formats whose calls are no blocks.
    pub(crate) fn new(id: &str, name: &str, input: String) -> Self {
        Self { name: Arc::from(name), input, around: Around::Usual { id: Arc::from(id) } }
    }

    /// The block with these arguments.
    fn with(&self, input: Raw) -> Option<Block> {
        match &self.around {
            Around::Usual { id } => {
                let (id, name) = (Arc::clone(id), Arc::clone(&self.name));
                Some(Block::call(ToolUse { id, name, input }))
            }
            Around::Other { before, after } => {
                let text = [before.as_str(), input.text(), after.as_str()].concat();
                Raw::parse(text).ok().map(Block::new)
            }
        }
    }

    fn broke_off(&self, ending: Ending) -> bool {
        match judge(&self.input) {
            Judgement::Cut => true,
            Judgement::Empty => ending == Ending::Limit,
            Judgement::Whole(_) | Judgement::Broken => false,
        }
    }

    /// A call nobody can run: its text stands where its arguments should, so that it is answered
    /// with an error and the model sees what it sent.
    fn as_it_is(&self) -> Option<Block> {
        match judge(&self.input) {
            Judgement::Empty => self.with(Raw::parse("{}").ok()?),
            Judgement::Whole(input) => self.with(input),
            Judgement::Cut | Judgement::Broken => self.with(Raw::string(&self.input)),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Judgement {
    /// One JSON value. Blanks around it are no part of it.
    Whole(Raw),
    /// Nothing at all: many servers say so for "no arguments".
    Empty,
    /// JSON that breaks off.
    Cut,
    /// Not JSON.
    Broken,
}

fn judge(input: &str) -> Judgement {
    if input.trim().is_empty() {
        return Judgement::Empty;
    }
    match serde_json::from_str(input) {
        Ok(input) => Judgement::Whole(input),
        Err(error) if error.is_eof() => Judgement::Cut,
        Err(_) => Judgement::Broken,
    }
}
