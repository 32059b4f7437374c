//! The items of an answer.

use serde::Serialize;
use windlass_core::raw::sha256_hex;

use super::super::block::{Block, Call};
use super::super::head::Head;
use super::request::Reasoning;
use super::stopped::Status;

/// One item of the output.
#[derive(Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Item {
    Reasoning {
        id: String,
        summary: Vec<Part>,
        #[serde(skip_serializing_if = "Option::is_none")]
        encrypted_content: Option<String>,
    },
    Message {
        id: String,
        status: Status,
        role: &'static str,
        content: Vec<Part>,
    },
    FunctionCall {
        id: String,
        status: Status,
        call_id: String,
        name: String,
        arguments: String,
    },
}

/// A part of an item.
#[derive(Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part {
    SummaryText { text: String },
    OutputText { text: String, annotations: [(); 0], logprobs: [(); 0] },
}

impl Part {
    pub(super) fn summary(text: &str) -> Self {
        Self::SummaryText { text: text.to_owned() }
    }

    pub(super) fn output(text: &str) -> Self {
        Self::OutputText { text: text.to_owned(), annotations: [], logprobs: [] }
    }
}

/// Makes the items of one answer.
#[derive(Clone, Copy)]
pub(super) struct Maker {
    pub(super) head: Head,
    pub(super) reasoning: Reasoning,
}

impl Maker {
    /// The id of the item at this place; raw blocks have none.
    pub(super) fn id(&self, place: usize, block: &Block<'_>) -> Option<String> {
        let prefix = match block {
            Block::Text(_) => "msg_",
            Block::Thinking(_) => "rs_",
            Block::Call(_) | Block::CutCall(_) => "fc_",
            Block::Raw(_) => return None,
        };
        Some(self.head.part_id(prefix, place))
    }

    /// The item before anything of it has arrived.
    pub(super) fn opened(&self, place: usize, block: &Block<'_>) -> Option<Item> {
        let id = self.id(place, block)?;
        let status = Status::InProgress;
        match block {
            Block::Text(_) => Some(message(id, status, Vec::new())),
            Block::Thinking(_) => {
                Some(Item::Reasoning { id, summary: Vec::new(), encrypted_content: None })
            }
            Block::Call(call) | Block::CutCall(call) => Some(function_call(id, status, call, "")),
            Block::Raw(_) => None,
        }
    }

    /// The item with everything that arrived.
    pub(super) fn closed(&self, place: usize, block: &Block<'_>) -> Option<Item> {
        let id = self.id(place, block)?;
        match block {
            Block::Text(text) => Some(message(id, Status::Completed, vec![Part::output(text)])),
            Block::Thinking(text) => Some(Item::Reasoning {
                id,
                summary: vec![Part::summary(text)],
                encrypted_content: self.sealed(text),
            }),
            Block::Call(call) => Some(function_call(id, Status::Completed, call, call.input)),
            Block::CutCall(call) => Some(function_call(id, Status::Incomplete, call, call.input)),
            Block::Raw(_) => None,
        }
    }

    fn sealed(&self, thought: &str) -> Option<String> {
        match self.reasoning {
            Reasoning::Sealed => Some(sha256_hex(thought.as_bytes())),
            Reasoning::Plain => None,
        }
    }
}

fn message(id: String, status: Status, content: Vec<Part>) -> Item {
    Item::Message { id, status, role: "assistant", content }
}

fn function_call(id: String, status: Status, call: &Call<'_>, arguments: &str) -> Item {
    let (call_id, name) = (call.id.to_owned(), call.name.to_owned());
    Item::FunctionCall { id, status, call_id, name, arguments: arguments.to_owned() }
}
