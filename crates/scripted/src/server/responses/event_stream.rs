//! An answer as a stream of Responses events.

use serde::Serialize;

use super::output_item::{OutputItemBody, OutputItems, OutputPartBody};
use super::request_parser::ResponsesSpec;
use super::response_status::{ResponseStatus, status_for_stop};
use super::whole_response::{ResponseDocument, ended_response, failed_response, started_response};
use crate::scripted_answer::ScriptedStop;
use crate::server::answer_block::AnswerBlock;
use crate::server::chat;
use crate::server::event_encoder::EventEncoder;
use crate::server::rejection::RequestRejection;
use crate::server::response_head::ResponseHead;
use crate::server::sse::write_named_event;

/// The events of one answer.
pub(in crate::server) struct ResponsesEventEncoder {
    spec: ResponsesSpec,
    items: OutputItems,
    sent_events: u64,
    /// The items that are complete.
    output: Vec<OutputItemBody>,
}

#[derive(Serialize)]
struct ResponseEventBody<'a> {
    r#type: &'a str,
    sequence_number: u64,
    response: ResponseDocument<'a>,
}

#[derive(Serialize)]
struct ItemEventBody<'a> {
    r#type: &'a str,
    sequence_number: u64,
    output_index: usize,
    item: &'a OutputItemBody,
}

/// An event about an item or a part of it. Which fields there are depends on the event.
#[derive(Default, Serialize)]
struct PartEventBody<'a> {
    r#type: &'a str,
    sequence_number: u64,
    item_id: &'a str,
    output_index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary_index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<OutputPartBody>,
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
struct ErrorEventBody<'a> {
    r#type: &'a str,
    sequence_number: u64,
    code: Option<&'a str>,
    message: &'a str,
    param: Option<&'a str>,
}

impl ResponsesEventEncoder {
    pub(in crate::server) fn new(spec: ResponsesSpec, head: ResponseHead) -> Self {
        let items = OutputItems { head, encrypts_reasoning: spec.encrypts_reasoning };
        Self { spec, items, sent_events: 0, output: Vec::new() }
    }

    /// The number of the next event.
    fn next_sequence_number(&mut self) -> u64 {
        let number = self.sent_events;
        self.sent_events = self.sent_events.saturating_add(1);
        number
    }

    /// The index of the open item.
    fn open_index(&self) -> usize {
        self.output.len()
    }

    fn write_start_event(&mut self, out: &mut String, name: &str) {
        let sequence_number = self.next_sequence_number();
        let response = started_response(&self.spec, &self.items.head);
        write_named_event(
            out,
            name,
            &ResponseEventBody { r#type: name, sequence_number, response },
        );
    }

    fn write_item_event(&mut self, out: &mut String, name: &str, item: &OutputItemBody) {
        let (sequence_number, output_index) = (self.next_sequence_number(), self.open_index());
        write_named_event(
            out,
            name,
            &ItemEventBody { r#type: name, sequence_number, output_index, item },
        );
    }

    /// Writes an event of the open item.
    fn write_part_event(
        &mut self,
        out: &mut String,
        block: &AnswerBlock<'_>,
        part: PartEventBody<'_>,
    ) {
        let (sequence_number, output_index) = (self.next_sequence_number(), self.open_index());
        let id = self.items.item_id(output_index, block).unwrap_or_default();
        let part = PartEventBody { sequence_number, output_index, item_id: &id, ..part };
        write_named_event(out, part.r#type, &part);
    }

    fn write_part_events(
        &mut self,
        out: &mut String,
        block: &AnswerBlock<'_>,
        parts: Vec<PartEventBody<'_>>,
    ) {
        for part in parts {
            self.write_part_event(out, block, part);
        }
    }
}

/// The events at the start of a block, after that of its item.
fn opening_events(block: &AnswerBlock<'_>) -> Vec<PartEventBody<'static>> {
    match block {
        AnswerBlock::Text(_) => {
            vec![PartEventBody {
                part: Some(OutputPartBody::output_text("")),
                ..text_part_event("response.content_part.added")
            }]
        }
        AnswerBlock::Thinking(_) => {
            let part = Some(OutputPartBody::summary_text(""));
            vec![PartEventBody {
                part,
                ..summary_part_event("response.reasoning_summary_part.added")
            }]
        }
        AnswerBlock::Call(_) | AnswerBlock::CutCall(_) | AnswerBlock::Raw(_) => Vec::new(),
    }
}

fn delta_events<'a>(block: &AnswerBlock<'_>, chunk: &'a str) -> Vec<PartEventBody<'a>> {
    let delta = Some(chunk);
    let logprobs = Some([]);
    match block {
        AnswerBlock::Text(_) => {
            vec![PartEventBody { delta, logprobs, ..text_part_event("response.output_text.delta") }]
        }
        AnswerBlock::Thinking(_) => {
            vec![PartEventBody {
                delta,
                ..summary_part_event("response.reasoning_summary_text.delta")
            }]
        }
        AnswerBlock::Call(_) | AnswerBlock::CutCall(_) => {
            vec![PartEventBody { delta, ..part_event("response.function_call_arguments.delta") }]
        }
        AnswerBlock::Raw(_) => Vec::new(),
    }
}

/// The events at the end of a block, before that of its item.
fn closing_events<'a>(block: &AnswerBlock<'a>) -> Vec<PartEventBody<'a>> {
    match *block {
        AnswerBlock::Text(text) => {
            let (part, logprobs) = (Some(OutputPartBody::output_text(text)), Some([]));
            let text = Some(text);
            vec![
                PartEventBody { text, logprobs, ..text_part_event("response.output_text.done") },
                PartEventBody { part, ..text_part_event("response.content_part.done") },
            ]
        }
        AnswerBlock::Thinking(text) => {
            let (part, text) = (Some(OutputPartBody::summary_text(text)), Some(text));
            vec![
                PartEventBody {
                    text,
                    ..summary_part_event("response.reasoning_summary_text.done")
                },
                PartEventBody {
                    part,
                    ..summary_part_event("response.reasoning_summary_part.done")
                },
            ]
        }
        AnswerBlock::Call(call) => {
            let (name, arguments) = (Some(call.name), Some(call.input));
            vec![PartEventBody {
                name,
                arguments,
                ..part_event("response.function_call_arguments.done")
            }]
        }
        // A truncated call has no closing events.
        AnswerBlock::CutCall(_) | AnswerBlock::Raw(_) => Vec::new(),
    }
}

fn part_event(name: &str) -> PartEventBody<'_> {
    PartEventBody { r#type: name, ..PartEventBody::default() }
}

fn text_part_event(name: &str) -> PartEventBody<'_> {
    PartEventBody { content_index: Some(0), ..part_event(name) }
}

fn summary_part_event(name: &str) -> PartEventBody<'_> {
    PartEventBody { summary_index: Some(0), ..part_event(name) }
}

impl EventEncoder for ResponsesEventEncoder {
    fn begin_answer(&mut self, out: &mut String) {
        self.write_start_event(out, "response.created");
        self.write_start_event(out, "response.in_progress");
    }

    fn open_block(&mut self, out: &mut String, block: &AnswerBlock<'_>) {
        if let Some(item) = self.items.opened_item(self.open_index(), block) {
            self.write_item_event(out, "response.output_item.added", &item);
            self.write_part_events(out, block, opening_events(block));
        }
    }

    fn write_piece(&mut self, out: &mut String, block: &AnswerBlock<'_>, chunk: &str) {
        self.write_part_events(out, block, delta_events(block, chunk));
    }

    fn close_block(&mut self, out: &mut String, block: &AnswerBlock<'_>) {
        self.write_part_events(out, block, closing_events(block));
        if let Some(item) = self.items.closed_item(self.open_index(), block) {
            self.write_item_event(out, "response.output_item.done", &item);
            self.output.push(item);
        }
    }

    /// Writes an SSE comment.
    fn write_ping(&self, out: &mut String) {
        out.push_str(": ping\n\n");
    }

    fn end_answer(&mut self, out: &mut String, stop: &ScriptedStop) {
        let name = match status_for_stop(stop).0 {
            ResponseStatus::Incomplete => "response.incomplete",
            ResponseStatus::Completed | ResponseStatus::InProgress | ResponseStatus::Failed => {
                "response.completed"
            }
        };
        let sequence_number = self.next_sequence_number();
        let response = ended_response(&self.spec, &self.items.head, &self.output, stop);
        write_named_event(
            out,
            name,
            &ResponseEventBody { r#type: name, sequence_number, response },
        );
    }

    fn end_with_error(&mut self, out: &mut String, refusal: &RequestRejection) {
        let (sequence_number, code) = (self.next_sequence_number(), chat::error_code(refusal));
        let (message, param) = (refusal.message.as_str(), refusal.param.as_deref());
        write_named_event(
            out,
            "error",
            &ErrorEventBody { r#type: "error", sequence_number, code, message, param },
        );
        let (name, sequence_number) = ("response.failed", self.next_sequence_number());
        let response = failed_response(&self.spec, &self.items.head, &self.output, refusal);
        write_named_event(
            out,
            name,
            &ResponseEventBody { r#type: name, sequence_number, response },
        );
    }
}
