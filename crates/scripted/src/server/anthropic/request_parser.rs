//! Parses a Messages request.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::tool_names::{self, MessagesTool};
use super::{conversation_check, script_view, tool_references};
use crate::server::content::{self, MessageContent};
use crate::server::parsed_request::{self, ParsedRequest, ResponseDelivery};
use crate::server::rejection::RequestRejection;
use crate::server::request_body::truncate_quoted;

/// The part of the request that the answer needs.
pub(in crate::server) struct MessagesSpec {
    pub(in crate::server) model: String,
}

#[derive(Deserialize)]
pub(super) struct MessagesRequestBody<'a> {
    model: Option<String>,
    max_tokens: Option<i64>,
    #[serde(borrow)]
    messages: Option<Vec<MessagesRawMessage<'a>>>,
    #[serde(borrow)]
    pub(super) tools: Option<Vec<MessagesTool<'a>>>,
    stream: Option<bool>,
}

#[derive(Deserialize)]
struct MessagesRawMessage<'a> {
    role: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessagesRole {
    User,
    Assistant,
}

/// One message.
pub(super) struct MessagesInput<'a> {
    pub(super) role: MessagesRole,
    pub(super) blocks: Vec<MessagesInputBlock<'a>>,
}

/// A content block, with the fields that a script or a check uses.
#[derive(Deserialize)]
pub(super) struct MessagesInputBlock<'a> {
    pub(super) r#type: String,
    pub(super) text: Option<String>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) tool_use_id: Option<String>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    pub(super) is_error: Option<bool>,
    pub(super) signature: Option<String>,
}

/// Parses a request, or rejects it as the service would.
pub(in crate::server) fn parse_request(body: &str) -> Result<ParsedRequest, RequestRejection> {
    let body = parse_body(body)?;
    let model = require_field(body.model.clone(), "model")?;
    match require_field(body.max_tokens, "max_tokens")? {
        1.. => {}
        _ => {
            return Err(RequestRejection::invalid(
                "max_tokens: Input should be greater than or equal to 1",
            ));
        }
    }
    let tools = tool_names::check_tool_names(body.tools.as_deref().unwrap_or_default())?;
    let messages = parse_messages(&body)?;
    conversation_check::check_messages(&messages)?;
    let tools = tool_references::visible_tools(tools, &messages)?;
    let response_spec = parsed_request::ResponseSpec::Messages(MessagesSpec { model });
    Ok(ParsedRequest {
        view: script_view::view_of_messages(&messages, tools),
        delivery: ResponseDelivery::from_stream_flag(body.stream),
        response_spec,
    })
}

pub(super) fn parse_body(body: &str) -> Result<MessagesRequestBody<'_>, RequestRejection> {
    serde_json::from_str(body).map_err(|error| match error.is_data() {
        true => RequestRejection::invalid(format!("Invalid request: {error}")),
        false => RequestRejection::invalid(format!("The request body is not valid JSON: {error}")),
    })
}

/// The messages of a request, all of them valid.
pub(super) fn parse_messages<'a>(
    body: &MessagesRequestBody<'a>,
) -> Result<Vec<MessagesInput<'a>>, RequestRejection> {
    let messages = body.messages.as_deref().ok_or_else(|| missing_field_rejection("messages"))?;
    if messages.is_empty() {
        return Err(RequestRejection::invalid("messages: at least one message is required"));
    }
    messages.iter().enumerate().map(|(index, raw)| parse_message(index, raw)).collect()
}

fn parse_message<'a>(
    index: usize,
    raw: &MessagesRawMessage<'a>,
) -> Result<MessagesInput<'a>, RequestRejection> {
    let role = parse_role(index, raw.role.as_deref())?;
    let content =
        raw.content.ok_or_else(|| missing_field_rejection(&format!("messages.{index}.content")))?;
    let blocks = match content::parse_content(content) {
        Ok(MessageContent::Text(text)) => vec![text_block(text)],
        Ok(MessageContent::Parts(blocks)) => blocks,
        Err(error) => {
            return Err(RequestRejection::invalid(format!("messages.{index}.content: {error}")));
        }
    };
    Ok(MessagesInput { role, blocks })
}

fn parse_role(index: usize, role: Option<&str>) -> Result<MessagesRole, RequestRejection> {
    match role {
        Some("user") => Ok(MessagesRole::User),
        Some("assistant") => Ok(MessagesRole::Assistant),
        Some("system") => Err(RequestRejection::invalid(
            "messages: Unexpected role \"system\". The Messages API accepts a top-level `system` \
             parameter, not \"system\" as an input message role.",
        )),
        Some(other) => Err(RequestRejection::invalid(format!(
            "messages: Unexpected role \"{}\". Allowed roles are \"user\" or \"assistant\"",
            truncate_quoted(other)
        ))),
        None => Err(missing_field_rejection(&format!("messages.{index}.role"))),
    }
}

fn text_block<'a>(text: String) -> MessagesInputBlock<'a> {
    MessagesInputBlock {
        r#type: "text".to_owned(),
        text: Some(text),
        id: None,
        name: None,
        tool_use_id: None,
        content: None,
        is_error: None,
        signature: None,
    }
}

fn require_field<T>(value: Option<T>, field: &str) -> Result<T, RequestRejection> {
    value.ok_or_else(|| missing_field_rejection(field))
}

fn missing_field_rejection(field: &str) -> RequestRejection {
    RequestRejection::invalid(format!("{field}: Field required"))
}
