//! An answer as a stream of events.

use serde::Serialize;

use super::super::super::answer::Stop;
use super::super::block::Block;
use super::super::chat;
use super::super::encoder::Encoder;
use super::super::head::Head;
use super::super::refusal::Refusal;
use super::super::sse::named;
use super::item::{Item, Maker, Part};
use super::request::Order;
use super::response::{Response, begun, ended, failed};
use super::stopped::{Status, stopped};

/// The events of one answer.
pub(in super::super) struct Events {
    order: Order,
    maker: Maker,
    sent: u64,
    /// The items that are complete.
    output: Vec<Item>,
}

#[derive(Serialize)]
struct About<'a> {
    r#type: &'a str,
    sequence_number: u64,
    response: Response<'a>,
}

#[derive(Serialize)]
struct OfItem<'a> {
    r#type: &'a str,
    sequence_number: u64,
    output_index: usize,
    item: &'a Item,
}

/// A piece of an item, or a part of it. Which fields there are depends on the event.
#[derive(Default, Serialize)]
struct OfPart<'a> {
    r#type: &'a str,
    sequence_number: u64,
    item_id: &'a str,
    output_index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary_index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<[(); 0]>,
}

#[derive(Serialize)]
struct Failed<'a> {
    r#type: &'a str,
    sequence_number: u64,
    code: Option<&'a str>,
    message: &'a str,
    param: Option<&'a str>,
}

impl Events {
    pub(in super::super) fn new(order: Order, head: Head) -> Self {
        let maker = Maker { head, reasoning: order.reasoning };
        Self { order, maker, sent: 0, output: Vec::new() }
    }

    /// The number of the next event.
    fn next(&mut self) -> u64 {
        let number = self.sent;
        self.sent = self.sent.saturating_add(1);
        number
    }

    /// The place of the open item.
    fn place(&self) -> usize {
        self.output.len()
    }

    fn begun(&mut self, out: &mut String, name: &str) {
        let sequence_number = self.next();
        let response = begun(&self.order, &self.maker.head);
        named(out, name, &About { r#type: name, sequence_number, response });
    }

    fn item(&mut self, out: &mut String, name: &str, item: &Item) {
        let (sequence_number, output_index) = (self.next(), self.place());
        named(out, name, &OfItem { r#type: name, sequence_number, output_index, item });
    }

    /// An event of the open item.
    fn part(&mut self, out: &mut String, block: &Block<'_>, part: OfPart<'_>) {
        let (sequence_number, output_index) = (self.next(), self.place());
        let id = self.maker.id(output_index, block).unwrap_or_default();
        let part = OfPart { sequence_number, output_index, item_id: &id, ..part };
        named(out, part.r#type, &part);
    }

    fn parts(&mut self, out: &mut String, block: &Block<'_>, parts: Vec<OfPart<'_>>) {
        for part in parts {
            self.part(out, block, part);
        }
    }
}

/// What is said when a block begins, after its item.
fn opening(block: &Block<'_>) -> Vec<OfPart<'static>> {
    match block {
        Block::Text(_) => {
            vec![OfPart { part: Some(Part::output("")), ..in_text("response.content_part.added") }]
        }
        Block::Thinking(_) => {
            let part = Some(Part::summary(""));
            vec![OfPart { part, ..in_summary("response.reasoning_summary_part.added") }]
        }
        Block::Call(_) | Block::CutCall(_) | Block::Raw(_) => Vec::new(),
    }
}

fn delta<'a>(block: &Block<'_>, piece: &'a str) -> Vec<OfPart<'a>> {
    let delta = Some(piece);
    let logprobs = Some([]);
    match block {
        Block::Text(_) => {
            vec![OfPart { delta, logprobs, ..in_text("response.output_text.delta") }]
        }
        Block::Thinking(_) => {
            vec![OfPart { delta, ..in_summary("response.reasoning_summary_text.delta") }]
        }
        Block::Call(_) | Block::CutCall(_) => {
            vec![OfPart { delta, ..event("response.function_call_arguments.delta") }]
        }
        Block::Raw(_) => Vec::new(),
    }
}

/// What is said when a block ends, before its item.
fn closing<'a>(block: &Block<'a>) -> Vec<OfPart<'a>> {
    match *block {
        Block::Text(text) => {
            let (part, logprobs) = (Some(Part::output(text)), Some([]));
            let text = Some(text);
            vec![
                OfPart { text, logprobs, ..in_text("response.output_text.done") },
                OfPart { part, ..in_text("response.content_part.done") },
            ]
        }
        Block::Thinking(text) => {
            let (part, text) = (Some(Part::summary(text)), Some(text));
            vec![
                OfPart { text, ..in_summary("response.reasoning_summary_text.done") },
                OfPart { part, ..in_summary("response.reasoning_summary_part.done") },
            ]
        }
        Block::Call(call) => {
            let (name, arguments) = (Some(call.name), Some(call.input));
            vec![OfPart { name, arguments, ..event("response.function_call_arguments.done") }]
        }
        // Nothing is done about a call that breaks off.
        Block::CutCall(_) | Block::Raw(_) => Vec::new(),
    }
}

fn event(name: &str) -> OfPart<'_> {
    OfPart { r#type: name, ..OfPart::default() }
}

fn in_text(name: &str) -> OfPart<'_> {
    OfPart { content_index: Some(0), ..event(name) }
}

fn in_summary(name: &str) -> OfPart<'_> {
    OfPart { summary_index: Some(0), ..event(name) }
}

impl Encoder for Events {
    fn begin(&mut self, out: &mut String) {
        self.begun(out, "response.created");
        self.begun(out, "response.in_progress");
    }

    fn open(&mut self, out: &mut String, block: &Block<'_>) {
        if let Some(item) = self.maker.opened(self.place(), block) {
            self.item(out, "response.output_item.added", &item);
            self.parts(out, block, opening(block));
        }
    }

    fn piece(&mut self, out: &mut String, block: &Block<'_>, piece: &str) {
        self.parts(out, block, delta(block, piece));
    }

    fn close(&mut self, out: &mut String, block: &Block<'_>) {
        self.parts(out, block, closing(block));
        if let Some(item) = self.maker.closed(self.place(), block) {
            self.item(out, "response.output_item.done", &item);
            self.output.push(item);
        }
    }

    /// An SSE comment.
    fn ping(&self, out: &mut String) {
        out.push_str(": ping\n\n");
    }

    fn end(&mut self, out: &mut String, stop: &Stop) {
        let name = match stopped(stop).0 {
            Status::Incomplete => "response.incomplete",
            Status::Completed | Status::InProgress | Status::Failed => "response.completed",
        };
        let sequence_number = self.next();
        let response = ended(&self.order, &self.maker.head, &self.output, stop);
        named(out, name, &About { r#type: name, sequence_number, response });
    }

    fn fail(&mut self, out: &mut String, refusal: &Refusal) {
        let (sequence_number, code) = (self.next(), chat::code(refusal));
        let (message, param) = (refusal.message.as_str(), refusal.param.as_deref());
        named(out, "error", &Failed { r#type: "error", sequence_number, code, message, param });
        let (name, sequence_number) = ("response.failed", self.next());
        let response = failed(&self.order, &self.maker.head, &self.output, refusal);
        named(out, name, &About { r#type: name, sequence_number, response });
    }
}
