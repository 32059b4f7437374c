//! A parsed request: what the script sees of it, and how the client wants its answer.

use super::event_encoder::EventEncoder;
use super::rejection::RequestRejection;
use super::response_head::ResponseHead;
use super::{anthropic, chat, responses};
use crate::request_view::OwnedRequestView;
use crate::scripted_answer::ScriptedAnswer;

/// A request in one of the formats.
pub(super) struct ParsedRequest {
    pub(super) view: OwnedRequestView,
    pub(super) delivery: ResponseDelivery,
    pub(super) response_spec: ResponseSpec,
}

/// How an answer is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResponseDelivery {
    /// The answer is one JSON document.
    Whole,
    /// The answer is a stream of events.
    Streamed,
}

impl ResponseDelivery {
    pub(super) fn from_stream_flag(stream: Option<bool>) -> Self {
        match stream {
            Some(true) => Self::Streamed,
            Some(false) | None => Self::Whole,
        }
    }
}

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ApiFormat {
    Messages,
    Chat,
    Responses,
}

impl ApiFormat {
    /// Parses a request.
    pub(super) fn parse_request(self, body: &str) -> Result<ParsedRequest, RequestRejection> {
        match self {
            Self::Messages => anthropic::parse_request(body),
            Self::Chat => chat::parse_request(body),
            Self::Responses => responses::parse_request(body),
        }
    }

    /// Encodes an error.
    pub(super) fn encode_error(self, refusal: &RequestRejection, request_id: &str) -> String {
        match self {
            Self::Messages => anthropic::encode_error_body(refusal, request_id),
            Self::Chat | Self::Responses => chat::encode_error_body(refusal),
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
pub(super) enum ResponseSpec {
    Messages(anthropic::MessagesSpec),
    Chat(chat::ChatSpec),
    Responses(responses::ResponsesSpec),
}

impl ResponseSpec {
    /// Encodes the answer as one JSON document.
    pub(super) fn encode_whole(&self, head: ResponseHead, answer: &ScriptedAnswer) -> String {
        match self {
            Self::Messages(order) => anthropic::encode_message(order, head, answer),
            Self::Chat(order) => chat::encode_completion(order, head, answer),
            Self::Responses(order) => responses::encode_response(order, head, answer),
        }
    }

    /// Creates the encoder for the answer as events.
    pub(super) fn into_encoder(self, head: ResponseHead) -> Box<dyn EventEncoder> {
        match self {
            Self::Messages(order) => Box::new(anthropic::MessagesEventEncoder::new(order, head)),
            Self::Chat(order) => Box::new(chat::ChatEventEncoder::new(order, head)),
            Self::Responses(order) => Box::new(responses::ResponsesEventEncoder::new(order, head)),
        }
    }
}
