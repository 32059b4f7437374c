//! An answer as a stream of Messages events.

use serde::Serialize;

use super::error_body::error_body;
use super::request_parser::MessagesSpec;
use super::usage::MessagesFinalUsage;
use super::whole_message::{
    ContentBlockBody, MessageDocument, empty_message, opened_block, thinking_signature,
};
use crate::scripted_answer::ScriptedStop;
use crate::server::answer_block::AnswerBlock;
use crate::server::event_encoder::EventEncoder;
use crate::server::rejection::RequestRejection;
use crate::server::response_head::ResponseHead;
use crate::server::sse::write_named_event;

/// The events of one answer.
pub(in crate::server) struct MessagesEventEncoder {
    spec: MessagesSpec,
    head: ResponseHead,
    /// The number of blocks that have started.
    opened_blocks: usize,
}

impl MessagesEventEncoder {
    pub(in crate::server) fn new(spec: MessagesSpec, head: ResponseHead) -> Self {
        Self { spec, head, opened_blocks: 0 }
    }

    /// The index of the open block.
    fn open_index(&self) -> usize {
        self.opened_blocks.saturating_sub(1)
    }

    fn write_delta(&self, out: &mut String, delta: ContentBlockDelta<'_>) {
        write_stream_event(
            out,
            "content_block_delta",
            &MessagesStreamEvent::ContentBlockDelta { index: self.open_index(), delta },
        );
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum MessagesStreamEvent<'a> {
    MessageStart { message: MessageDocument<'a> },
    Ping,
    ContentBlockStart { index: usize, content_block: ContentBlockBody<'a> },
    ContentBlockDelta { index: usize, delta: ContentBlockDelta<'a> },
    ContentBlockStop { index: usize },
    MessageDelta { delta: MessageStopDelta<'a>, usage: MessagesFinalUsage },
    MessageStop,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "the service calls them so")]
enum ContentBlockDelta<'a> {
    TextDelta { text: &'a str },
    ThinkingDelta { thinking: &'a str },
    SignatureDelta { signature: &'a str },
    InputJsonDelta { partial_json: &'a str },
}

#[derive(Serialize)]
struct MessageStopDelta<'a> {
    stop_reason: &'a str,
    stop_sequence: Option<&'a str>,
}

fn write_stream_event(out: &mut String, name: &str, event: &MessagesStreamEvent<'_>) {
    write_named_event(out, name, event);
}

impl EventEncoder for MessagesEventEncoder {
    fn begin_answer(&mut self, out: &mut String) {
        let message = empty_message(&self.spec, &self.head);
        write_stream_event(out, "message_start", &MessagesStreamEvent::MessageStart { message });
    }

    fn open_block(&mut self, out: &mut String, block: &AnswerBlock<'_>) {
        let (index, content_block) = (self.opened_blocks, opened_block(block));
        self.opened_blocks = self.opened_blocks.saturating_add(1);
        write_stream_event(
            out,
            "content_block_start",
            &MessagesStreamEvent::ContentBlockStart { index, content_block },
        );
        if index == 0 {
            self.write_ping(out);
        }
        // The input of a call begins with an empty piece.
        if matches!(block, AnswerBlock::Call(_) | AnswerBlock::CutCall(_)) {
            self.write_delta(out, ContentBlockDelta::InputJsonDelta { partial_json: "" });
        }
    }

    fn write_piece(&mut self, out: &mut String, block: &AnswerBlock<'_>, text: &str) {
        match block {
            AnswerBlock::Text(_) => {
                self.write_delta(out, ContentBlockDelta::TextDelta { text });
            }
            AnswerBlock::Thinking(_) => {
                self.write_delta(out, ContentBlockDelta::ThinkingDelta { thinking: text });
            }
            AnswerBlock::Call(_) | AnswerBlock::CutCall(_) => {
                self.write_delta(out, ContentBlockDelta::InputJsonDelta { partial_json: text });
            }
            AnswerBlock::Raw(_) => {}
        }
    }

    fn close_block(&mut self, out: &mut String, block: &AnswerBlock<'_>) {
        if let AnswerBlock::Thinking(_) = block {
            self.write_delta(
                out,
                ContentBlockDelta::SignatureDelta { signature: &thinking_signature(block) },
            );
        }
        write_stream_event(
            out,
            "content_block_stop",
            &MessagesStreamEvent::ContentBlockStop { index: self.open_index() },
        );
    }

    fn write_ping(&self, out: &mut String) {
        write_stream_event(out, "ping", &MessagesStreamEvent::Ping);
    }

    fn end_answer(&mut self, out: &mut String, stop: &ScriptedStop) {
        let (stop_reason, stop_sequence) = (stop.reason.as_str(), stop.sequence.as_deref());
        let delta = MessageStopDelta { stop_reason, stop_sequence };
        let usage = MessagesFinalUsage::from_head(&self.head);
        write_stream_event(
            out,
            "message_delta",
            &MessagesStreamEvent::MessageDelta { delta, usage },
        );
        write_stream_event(out, "message_stop", &MessagesStreamEvent::MessageStop);
    }

    fn end_with_error(&mut self, out: &mut String, refusal: &RequestRejection) {
        write_named_event(out, "error", &error_body(refusal, &self.head.id_with_prefix("req_")));
    }
}
