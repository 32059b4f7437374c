//! An answer as a stream of events.

use serde::Serialize;

use super::super::super::answer::Stop;
use super::super::block::Block;
use super::super::encoder::Encoder;
use super::super::head::Head;
use super::super::refusal::Refusal;
use super::super::sse::named;
use super::error::body;
use super::message::{ContentBlock, Message, empty, opened, signature};
use super::request::Order;
use super::usage::FinalUsage;

/// The events of one answer.
pub(in super::super) struct Events {
    order: Order,
    head: Head,
    /// How many blocks have begun.
    begun: usize,
}

impl Events {
    pub(in super::super) fn new(order: Order, head: Head) -> Self {
        Self { order, head, begun: 0 }
    }

    /// The place of the open block.
    fn index(&self) -> usize {
        self.begun.saturating_sub(1)
    }

    fn delta(&self, out: &mut String, delta: Delta<'_>) {
        event(out, "content_block_delta", &Event::ContentBlockDelta { index: self.index(), delta });
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event<'a> {
    MessageStart { message: Message<'a> },
    Ping,
    ContentBlockStart { index: usize, content_block: ContentBlock<'a> },
    ContentBlockDelta { index: usize, delta: Delta<'a> },
    ContentBlockStop { index: usize },
    MessageDelta { delta: Stopped<'a>, usage: FinalUsage },
    MessageStop,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "the service calls them so")]
enum Delta<'a> {
    TextDelta { text: &'a str },
    ThinkingDelta { thinking: &'a str },
    SignatureDelta { signature: &'a str },
    InputJsonDelta { partial_json: &'a str },
}

#[derive(Serialize)]
struct Stopped<'a> {
    stop_reason: &'a str,
    stop_sequence: Option<&'a str>,
}

fn event(out: &mut String, name: &str, event: &Event<'_>) {
    named(out, name, event);
}

impl Encoder for Events {
    fn begin(&mut self, out: &mut String) {
        let message = empty(&self.order, &self.head);
        event(out, "message_start", &Event::MessageStart { message });
    }

    fn open(&mut self, out: &mut String, block: &Block<'_>) {
        let (index, content_block) = (self.begun, opened(block));
        self.begun = self.begun.saturating_add(1);
        event(out, "content_block_start", &Event::ContentBlockStart { index, content_block });
        if index == 0 {
            self.ping(out);
        }
        // A call's input begins with an empty piece.
        if matches!(block, Block::Call(_) | Block::CutCall(_)) {
            self.delta(out, Delta::InputJsonDelta { partial_json: "" });
        }
    }

    fn piece(&mut self, out: &mut String, block: &Block<'_>, piece: &str) {
        match block {
            Block::Text(_) => self.delta(out, Delta::TextDelta { text: piece }),
            Block::Thinking(_) => self.delta(out, Delta::ThinkingDelta { thinking: piece }),
            Block::Call(_) | Block::CutCall(_) => {
                self.delta(out, Delta::InputJsonDelta { partial_json: piece });
            }
            Block::Raw(_) => {}
        }
    }

    fn close(&mut self, out: &mut String, block: &Block<'_>) {
        if let Block::Thinking(_) = block {
            self.delta(out, Delta::SignatureDelta { signature: &signature(block) });
        }
        event(out, "content_block_stop", &Event::ContentBlockStop { index: self.index() });
    }

    fn ping(&self, out: &mut String) {
        event(out, "ping", &Event::Ping);
    }

    fn end(&mut self, out: &mut String, stop: &Stop) {
        let (stop_reason, stop_sequence) = (stop.reason.as_str(), stop.sequence.as_deref());
        let delta = Stopped { stop_reason, stop_sequence };
        let usage = FinalUsage::of(&self.head);
        event(out, "message_delta", &Event::MessageDelta { delta, usage });
        event(out, "message_stop", &Event::MessageStop);
    }

    fn fail(&mut self, out: &mut String, refusal: &Refusal) {
        named(out, "error", &body(refusal, &self.head.id("req_")));
    }
}
