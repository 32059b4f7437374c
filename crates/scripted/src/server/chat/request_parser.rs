//! Parses a Chat Completions request.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::error_body::rejection_for_invalid_json;
use super::{conversation_check, script_view};
use crate::server::parsed_request::{self, ParsedRequest, ResponseDelivery};
use crate::server::rejection::RequestRejection;
use crate::server::request_body::truncate_quoted;

/// The part of the request that the answer needs.
pub(in crate::server) struct ChatSpec {
    pub(super) model: String,
    pub(super) wants_usage_chunk: bool,
}

#[derive(Deserialize)]
struct ChatRequestBody<'a> {
    model: Option<String>,
    #[serde(borrow)]
    messages: Option<Vec<ChatRawMessage<'a>>>,
    tools: Option<Vec<ChatTool>>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
}

#[derive(Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
}

#[derive(Deserialize)]
struct ChatTool {
    r#type: Option<String>,
    function: Option<ChatFunction>,
}

#[derive(Deserialize)]
pub(super) struct ChatFunction {
    pub(super) name: Option<String>,
}

#[derive(Deserialize)]
struct ChatRawMessage<'a> {
    role: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    tool_calls: Option<Vec<ChatToolCall>>,
    tool_call_id: Option<String>,
}

/// A call in an assistant message.
#[derive(Deserialize)]
pub(super) struct ChatToolCall {
    pub(super) id: Option<String>,
    pub(super) function: Option<ChatFunction>,
}

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChatRole {
    /// A system or developer message.
    Instructions,
    User,
    Assistant,
    Tool,
}

/// One message.
pub(super) struct ChatInput<'a> {
    pub(super) role: ChatRole,
    pub(super) content: Option<&'a RawValue>,
    pub(super) calls: Vec<ChatToolCall>,
    pub(super) answered_call_id: Option<String>,
}

/// Parses a request, or rejects it as the service would.
pub(in crate::server) fn parse_request(body: &str) -> Result<ParsedRequest, RequestRejection> {
    let body: ChatRequestBody<'_> =
        serde_json::from_str(body).map_err(|error| rejection_for_invalid_json(&error))?;
    let model = body.model.ok_or_else(|| {
        RequestRejection::invalid("you must provide a model parameter").with_param("model")
    })?;
    let messages = parse_messages(body.messages)?;
    conversation_check::check_messages(&messages)?;
    let tools = body.tools.into_iter().flatten().filter_map(tool_name).collect();
    let include_usage = body.stream_options.and_then(|options| options.include_usage);
    let wants_usage_chunk = include_usage == Some(true);
    let response_spec = parsed_request::ResponseSpec::Chat(ChatSpec { model, wants_usage_chunk });
    Ok(ParsedRequest {
        view: script_view::view_of_messages(&messages, tools),
        delivery: ResponseDelivery::from_stream_flag(body.stream),
        response_spec,
    })
}

/// The name of a function; any other tool is named by its type.
fn tool_name(tool: ChatTool) -> Option<String> {
    tool.function.and_then(|function| function.name).or(tool.r#type)
}

fn parse_messages(
    raw: Option<Vec<ChatRawMessage<'_>>>,
) -> Result<Vec<ChatInput<'_>>, RequestRejection> {
    let missing = || {
        RequestRejection::invalid("Missing required parameter: 'messages'.").with_param("messages")
    };
    let raw = raw.ok_or_else(|| missing().with_code("missing_required_parameter"))?;
    if raw.is_empty() {
        let says = "Invalid 'messages': empty array. Expected an array with minimum length 1, but \
                    got an empty array instead.";
        return Err(RequestRejection::invalid(says)
            .with_param("messages")
            .with_code("empty_array"));
    }
    raw.into_iter().enumerate().map(|(index, raw)| parse_message(index, raw)).collect()
}

fn parse_message(index: usize, raw: ChatRawMessage<'_>) -> Result<ChatInput<'_>, RequestRejection> {
    let role = parse_role(raw.role.as_deref())
        .map_err(|refusal| refusal.with_param(format!("messages[{index}].role")))?;
    let calls = raw.tool_calls.unwrap_or_default();
    Ok(ChatInput { role, content: raw.content, calls, answered_call_id: raw.tool_call_id })
}

fn parse_role(role: Option<&str>) -> Result<ChatRole, RequestRejection> {
    match role {
        Some("system" | "developer") => Ok(ChatRole::Instructions),
        Some("user") => Ok(ChatRole::User),
        Some("assistant") => Ok(ChatRole::Assistant),
        Some("tool") => Ok(ChatRole::Tool),
        Some(other) => Err(RequestRejection::invalid(format!(
            "Invalid value: '{}'. Supported values are: 'system', 'assistant', 'user', \
             'function', 'tool', and 'developer'.",
            truncate_quoted(other)
        ))
        .with_code("invalid_value")),
        None => Err(RequestRejection::invalid("Missing required parameter: 'role'.")
            .with_code("missing_required_parameter")),
    }
}
