//! The events of the items of a response, written while the items arrive.
//!
//! An item becomes the blocks that the reply has of it: a message one for each part, a call and
//! reasoning one each. What an item has beyond its pieces is written when the item is complete.

use windlass_runtime::ports::ReplyObserver;

use super::output_item::OutputItem;
use crate::limits::MAX_OPEN_BLOCKS;
use crate::wire::decode_context::DecodeContext;
use crate::wire::reply_events::{EventBlock, EventBlockKind, EventContent, ReplyEventWriter};

/// The text between two parts of reasoning.
const PART_SEPARATOR: &str = "\n\n";

/// The events of a response.
#[derive(Debug, Default)]
pub(super) struct ItemEvents {
    writer: ReplyEventWriter,
    open: Vec<StreamedBlock>,
}

/// A block that has started and not ended.
#[derive(Debug)]
struct StreamedBlock {
    output_index: u64,
    kind: EventBlockKind,
    /// The part of the item that the last piece belongs to.
    part: u64,
    block: EventBlock,
    /// What was written of it.
    text: String,
}

/// The place of a piece: its item, and the part of the item.
#[derive(Debug, Clone, Copy)]
pub(super) struct PiecePlace {
    pub(super) output_index: u64,
    pub(super) part: u64,
}

impl ItemEvents {
    /// Starts the message, unless it has started, with the id and the model of this response object.
    pub(super) fn start(
        &mut self,
        response: &str,
        context: &DecodeContext,
        stream: &dyn ReplyObserver,
    ) {
        self.writer.start_message(response, context, stream);
    }

    /// Starts the block of a call; other items start with their first piece.
    pub(super) fn open_item(
        &mut self,
        output_index: u64,
        (item, call_id): (&OutputItem<'_>, &str),
        stream: &dyn ReplyObserver,
    ) {
        if self.writer.has_started() {
            let name = item.name.as_deref().unwrap_or_default();
            let content = EventContent::Call { id: call_id, name, input: "" };
            self.open_block(PiecePlace { output_index, part: 0 }, &content, stream);
        }
    }

    /// Writes a piece of a message's text.
    pub(super) fn write_text(
        &mut self,
        place: PiecePlace,
        chunk: &str,
        stream: &dyn ReplyObserver,
    ) {
        if !self.writer.has_started() || chunk.is_empty() {
            return;
        }
        let known = self.find_open(place.output_index, EventBlockKind::Text, Some(place.part));
        let at = known.or_else(|| self.open_block(place, &EventContent::Text("".into()), stream));
        if let Some(open) = at.and_then(|at| self.open.get_mut(at)) {
            open.text.push_str(chunk);
            self.writer.write_text(open.block, chunk, stream);
        }
    }

    /// Writes a piece of reasoning, all parts of which are one block.
    pub(super) fn write_thinking(
        &mut self,
        place: PiecePlace,
        chunk: &str,
        stream: &dyn ReplyObserver,
    ) {
        if !self.writer.has_started() || chunk.is_empty() {
            return;
        }
        let content = EventContent::Thinking { thinking: "".into(), signature: None };
        let known = self.find_open(place.output_index, EventBlockKind::Thinking, None);
        let at = known.or_else(|| self.open_block(place, &content, stream));
        let Some(open) = at.and_then(|at| self.open.get_mut(at)) else { return };
        if std::mem::replace(&mut open.part, place.part) != place.part {
            open.text.push_str(PART_SEPARATOR);
            self.writer.write_thinking(open.block, PART_SEPARATOR, stream);
        }
        open.text.push_str(chunk);
        self.writer.write_thinking(open.block, chunk, stream);
    }

    /// Writes a piece of a call's input.
    pub(super) fn write_input(
        &mut self,
        output_index: u64,
        chunk: &str,
        stream: &dyn ReplyObserver,
    ) {
        let known = self.find_open(output_index, EventBlockKind::Call, None);
        if let Some(open) = known.and_then(|at| self.open.get_mut(at)) {
            open.text.push_str(chunk);
            self.writer.write_input(open.block, chunk, stream);
        }
    }

    /// Completes an item, of which the reply has these blocks.
    pub(super) fn complete_item<'a>(
        &mut self,
        output_index: u64,
        blocks: impl Iterator<Item = EventContent<'a>>,
        stream: &dyn ReplyObserver,
    ) {
        if !self.writer.has_started() {
            return;
        }
        let is_of_item = |open: &mut StreamedBlock| open.output_index == output_index;
        let streamed: Vec<StreamedBlock> = self.open.extract_if(.., is_of_item).collect();
        let mut streamed = streamed.into_iter().peekable();
        for content in blocks {
            match streamed.next_if(|open| open.kind == content.kind()) {
                Some(open) => self.complete_block(&open, &content, stream),
                None => self.writer.write_block(&content, stream),
            }
        }
        streamed.for_each(|open| self.writer.close_block(open.block, stream));
    }

    /// Ends all blocks that have not ended, and returns the writer for the end of the message.
    pub(super) fn finish(self, stream: &dyn ReplyObserver) -> ReplyEventWriter {
        self.open.iter().for_each(|open| self.writer.close_block(open.block, stream));
        self.writer
    }

    /// Writes what is missing of a block and ends it. Nothing is added to pieces that the complete
    /// block contradicts.
    fn complete_block(
        &self,
        open: &StreamedBlock,
        content: &EventContent<'_>,
        stream: &dyn ReplyObserver,
    ) {
        if content.text().starts_with(open.text.as_str()) {
            self.writer.write_rest(open.block, (content, open.text.len()), stream);
        }
        self.writer.close_block(open.block, stream);
    }

    /// The position of an open block, of any part of its item or of this one.
    fn find_open(
        &self,
        output_index: u64,
        kind: EventBlockKind,
        part: Option<u64>,
    ) -> Option<usize> {
        self.open.iter().position(|open| {
            (open.output_index, open.kind) == (output_index, kind)
                && part.is_none_or(|part| open.part == part)
        })
    }

    /// Starts a block and returns its position among the open ones; `None` if there are too many.
    fn open_block(
        &mut self,
        PiecePlace { output_index, part }: PiecePlace,
        content: &EventContent<'_>,
        stream: &dyn ReplyObserver,
    ) -> Option<usize> {
        if self.open.len() >= MAX_OPEN_BLOCKS {
            return None;
        }
        let block = self.writer.open_block(content, stream);
        let (kind, text) = (content.kind(), String::new());
        self.open.push(StreamedBlock { output_index, kind, part, block, text });
        Some(self.open.len() - 1)
    }
}
