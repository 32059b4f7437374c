//! A request that was understood: what the script sees of it, and how it wants its answer.

use super::super::answer::Answer;
use super::super::view::View;
use super::encoder::Encoder;
use super::head::Head;
use super::refusal::Refusal;
use super::{anthropic, chat, responses};

/// A request in one of the formats.
pub(super) struct Asked {
    pub(super) view: View,
    pub(super) delivery: Delivery,
    pub(super) order: Order,
}

/// How an answer is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// As one JSON document.
    Whole,
    /// As a stream of events.
    Streamed,
}

impl Delivery {
    pub(super) fn of(stream: Option<bool>) -> Self {
        match stream {
            Some(true) => Self::Streamed,
            Some(false) | None => Self::Whole,
        }
    }
}

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Messages,
    Chat,
    Responses,
}

impl Format {
    /// Reads a request.
    pub(super) fn read(self, body: &str) -> Result<Asked, Refusal> {
        match self {
            Self::Messages => anthropic::read(body),
            Self::Chat => chat::read(body),
            Self::Responses => responses::read(body),
        }
    }

    /// Writes an error.
    pub(super) fn error(self, refusal: &Refusal, request_id: &str) -> String {
        match self {
            Self::Messages => anthropic::error(refusal, request_id),
            Self::Chat | Self::Responses => chat::error(refusal),
        }
    }

    /// The header that carries the id of a request.
    pub(super) fn id_header(self) -> &'static str {
        match self {
            Self::Messages => "request-id",
            Self::Chat | Self::Responses => "x-request-id",
        }
    }
}

/// How the client wants its answer, in its own format.
pub(super) enum Order {
    Messages(anthropic::Order),
    Chat(chat::Order),
    Responses(responses::Order),
}

impl Order {
    /// The answer as one JSON document.
    pub(super) fn whole(&self, head: Head, answer: &Answer) -> String {
        match self {
            Self::Messages(order) => anthropic::whole(order, head, answer),
            Self::Chat(order) => chat::whole(order, head, answer),
            Self::Responses(order) => responses::whole(order, head, answer),
        }
    }

    /// The answer as events.
    pub(super) fn stream(self, head: Head) -> Box<dyn Encoder> {
        match self {
            Self::Messages(order) => Box::new(anthropic::Events::new(order, head)),
            Self::Chat(order) => Box::new(chat::Events::new(order, head)),
            Self::Responses(order) => Box::new(responses::Events::new(order, head)),
        }
    }
}
