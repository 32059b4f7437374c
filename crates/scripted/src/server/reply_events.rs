//! The events of an answer without a socket: what the server sends in the Messages format, handed to
//! the observer of a model in this process.

use windlass_runtime::ports::ReplyObserver;

use super::answer_block::AnswerBlock;
use super::anthropic::{MessagesEventEncoder, MessagesSpec};
use super::event_encoder::EventEncoder;
use super::response_head::ResponseHead;
use super::sse;
use crate::scripted_answer::{AnswerStep, ScriptedAnswer, ScriptedStop};

/// The event that keeps a connection alive: there is none here.
const PING: &str = r#"{"type":"ping"}"#;

/// The events of one answer; nothing is written if they are not wanted.
pub(crate) struct ReplyEvents<'a> {
    stream: &'a dyn ReplyObserver,
    encoder: Option<MessagesEventEncoder>,
    has_begun: bool,
}

impl<'a> ReplyEvents<'a> {
    /// Creates the events of an answer of the model called `model`. Ids are made from `number`.
    pub(crate) fn new(
        answer: &ScriptedAnswer,
        (model, number): (&str, u64),
        stream: &'a dyn ReplyObserver,
    ) -> Self {
        let encoder = stream.wants_events().then(|| {
            let head = ResponseHead::new(number, 0, answer);
            MessagesEventEncoder::new(MessagesSpec { model: model.to_owned() }, head)
        });
        Self { stream, encoder, has_begun: false }
    }

    /// Starts a block, and the message with the first one.
    pub(crate) fn open_block(&mut self, step: &AnswerStep) {
        self.begin_message();
        self.write_block_events(step, |encoder, out, block| encoder.open_block(out, block));
    }

    /// Adds a piece to the open block.
    pub(crate) fn write_piece(&mut self, step: &AnswerStep, chunk: &str) {
        self.write_block_events(step, |encoder, out, block| encoder.write_piece(out, block, chunk));
    }

    /// Ends the open block.
    pub(crate) fn close_block(&mut self, step: &AnswerStep) {
        self.write_block_events(step, |encoder, out, block| encoder.close_block(out, block));
    }

    /// Ends the message.
    pub(crate) fn end_message(&mut self, stop: &ScriptedStop) {
        self.begin_message();
        self.write_events(|encoder, out| encoder.end_answer(out, stop));
    }

    fn begin_message(&mut self) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.write_events(|encoder, out| encoder.begin_answer(out));
        }
    }

    fn write_block_events(
        &mut self,
        step: &AnswerStep,
        events: impl FnOnce(&mut MessagesEventEncoder, &mut String, &AnswerBlock<'_>),
    ) {
        if let Some(block) = AnswerBlock::from_step(step) {
            self.write_events(|encoder, out| events(encoder, out, &block));
        }
    }

    fn write_events(&mut self, events: impl FnOnce(&mut MessagesEventEncoder, &mut String)) {
        let Some(encoder) = &mut self.encoder else { return };
        let mut out = String::new();
        events(encoder, &mut out);
        sse::event_data(&out)
            .filter(|event| *event != PING)
            .for_each(|event| self.stream.on_event(event));
    }
}
