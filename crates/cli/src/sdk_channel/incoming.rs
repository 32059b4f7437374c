//! Messages from the SDK, as they arrive on standard input.

use serde_json::{Map, Value};
use windlass::core::message::content_block::ContentBlock;
use windlass::core::message::raw_json::RawJson;

#[cfg(test)]
#[path = "incoming_tests.rs"]
mod incoming_tests;

/// Number of characters of a bad line that an error shows.
const SHOWN_CHARS: usize = 80;

/// One message from the SDK.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Incoming {
    /// A prompt.
    User(Box<UserPrompt>),
    /// The SDK requests something.
    Request(ControlRequest),
    /// The SDK answers a request of ours.
    Response(ControlResponse),
    /// The SDK withdraws a request of its own.
    Cancel { request_id: String },
    /// A message without effect: a sign of life, an empty line, or a type that a newer SDK sends.
    Nothing,
}

/// A control request from the SDK.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ControlRequest {
    pub(super) id: String,
    pub(super) subtype: String,
    /// The fields of the request, with the subtype.
    pub(super) fields: Map<String, Value>,
}

/// The answer to a control request of ours.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ControlResponse {
    pub(super) request_id: String,
    /// The answer, or the text of an error.
    pub(super) result: Result<Value, String>,
}

/// A user message.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UserPrompt {
    /// The content; an error says why the message cannot be used.
    pub(super) content: Result<Vec<ContentBlock>, String>,
    /// The message as the SDK sent it, for replays.
    pub(super) message: Value,
    /// The id that the program gave the message.
    pub(super) uuid: Option<String>,
    /// Where the message comes from; echoed in the result.
    pub(super) origin: Option<Value>,
    pub(super) priority: PromptPriority,
    /// Whether the text is sent as it is: no mentions, no slash commands.
    pub(super) is_verbatim: bool,
    /// Whether a program wrote it for a person.
    pub(super) is_synthetic: bool,
    /// Whether the model answers it; otherwise it waits for the next message.
    pub(super) asks_model: bool,
}

/// When a user message is handled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum PromptPriority {
    /// In the turn that is in progress, after its current round.
    Now,
    /// After the turn that is in progress.
    #[default]
    Next,
    /// After all other messages.
    Later,
}

/// A line that is not a message.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a line on standard input is not JSON: {reason} in `{shown}`; --input-format stream-json takes one JSON \
     object a line"
)]
pub(super) struct InvalidLine {
    reason: String,
    shown: String,
}

impl Incoming {
    /// Parses a line.
    pub(super) fn parse(line: &[u8]) -> Result<Self, InvalidLine> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self::Nothing);
        }
        let value: Value = serde_json::from_slice(line).map_err(|error| InvalidLine {
            reason: error.to_string(),
            shown: String::from_utf8_lossy(line).chars().take(SHOWN_CHARS).collect(),
        })?;
        Ok(Self::from_value(value))
    }

    fn from_value(value: Value) -> Self {
        let Value::Object(mut fields) = value else { return Self::Nothing };
        let kind = take_text(&mut fields, "type").unwrap_or_default();
        let parsed = match kind.as_str() {
            "user" => Some(Self::User(Box::new(UserPrompt::from_fields(fields)))),
            "control_request" => ControlRequest::from_fields(fields).map(Self::Request),
            "control_response" => ControlResponse::from_fields(fields).map(Self::Response),
            "control_cancel_request" => {
                take_text(&mut fields, "request_id").map(|request_id| Self::Cancel { request_id })
            }
            _ => None,
        };
        parsed.unwrap_or(Self::Nothing)
    }
}

impl ControlRequest {
    /// Reads a request; one without an id cannot be answered.
    fn from_fields(mut fields: Map<String, Value>) -> Option<Self> {
        let id = take_text(&mut fields, "request_id")?;
        let request = match fields.remove("request") {
            Some(Value::Object(request)) => request,
            Some(_) | None => Map::new(),
        };
        let subtype = request.get("subtype").and_then(Value::as_str).unwrap_or_default();
        Some(Self { id, subtype: subtype.to_owned(), fields: request })
    }

    /// Returns a text field.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    /// Returns a flag, which is off if it is not given.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.fields.get(name).and_then(Value::as_bool).unwrap_or(false)
    }
}

impl ControlResponse {
    fn from_fields(mut fields: Map<String, Value>) -> Option<Self> {
        let Some(Value::Object(mut response)) = fields.remove("response") else { return None };
        let request_id = take_text(&mut response, "request_id")?;
        let result = match response.get("subtype").and_then(Value::as_str) {
            Some("error") => Err(take_text(&mut response, "error").unwrap_or_default()),
            _ => Ok(response.remove("response").unwrap_or(Value::Null)),
        };
        Some(Self { request_id, result })
    }
}

impl UserPrompt {
    fn from_fields(mut fields: Map<String, Value>) -> Self {
        let message = fields.remove("message").unwrap_or(Value::Null);
        let flag = |fields: &Map<String, Value>, name: &str, otherwise: bool| {
            fields.get(name).and_then(Value::as_bool).unwrap_or(otherwise)
        };
        Self {
            content: read_content(message.get("content")),
            uuid: take_text(&mut fields, "uuid").filter(|uuid| !uuid.is_empty()),
            priority: match fields.get("priority").and_then(Value::as_str) {
                Some("now") => PromptPriority::Now,
                Some("later") => PromptPriority::Later,
                Some(_) | None => PromptPriority::Next,
            },
            is_verbatim: flag(&fields, "client_composed", false),
            is_synthetic: flag(&fields, "isSynthetic", false),
            asks_model: flag(&fields, "shouldQuery", true),
            origin: fields.remove("origin").filter(|origin| !origin.is_null()),
            message,
        }
    }

    /// Returns the text, if the message has nothing but text.
    pub(super) fn as_text(&self) -> Option<String> {
        let blocks = self.content.as_ref().ok()?;
        let texts: Option<Vec<&str>> =
            blocks.iter().map(|block| block.as_text().map(AsRef::as_ref)).collect();
        texts.filter(|texts| !texts.is_empty()).map(|texts| texts.join("\n"))
    }
}

/// Reads the content of a user message: a text, or a list of blocks.
fn read_content(content: Option<&Value>) -> Result<Vec<ContentBlock>, String> {
    let is_block = |block: &Value| block.get("type").is_some_and(Value::is_string);
    match content {
        Some(Value::String(text)) => Ok(vec![ContentBlock::text(text)]),
        Some(Value::Array(blocks)) if !blocks.is_empty() && blocks.iter().all(is_block) => {
            Ok(blocks.iter().map(|block| ContentBlock::new(RawJson::encode(block))).collect())
        }
        Some(_) => {
            Err("the content of a user message must be a text or a list of content blocks, \
                        each with a `type`"
                .to_owned())
        }
        None => Err("a user message needs `message.content`".to_owned()),
    }
}

fn take_text(fields: &mut Map<String, Value>, name: &str) -> Option<String> {
    match fields.remove(name) {
        Some(Value::String(text)) => Some(text),
        Some(_) | None => None,
    }
}
