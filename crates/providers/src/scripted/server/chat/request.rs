//! Reading a request.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::asked::{self, Asked, Delivery};
use super::super::body::quoted;
use super::super::refusal::Refusal;
use super::error::parse_error;
use super::{check, view};

/// What the answer needs of the request.
pub(in super::super) struct Order {
    pub(super) model: String,
    pub(super) usage: UsageChunk,
}

/// Whether a stream ends with the bill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UsageChunk {
    Wanted,
    NotWanted,
}

#[derive(Deserialize)]
struct Body<'a> {
    model: Option<String>,
    #[serde(borrow)]
    messages: Option<Vec<RawMessage<'a>>>,
    tools: Option<Vec<Tool>>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
}

#[derive(Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
}

#[derive(Deserialize)]
struct Tool {
    r#type: Option<String>,
    function: Option<Function>,
}

#[derive(Deserialize)]
pub(super) struct Function {
    pub(super) name: Option<String>,
}

#[derive(Deserialize)]
struct RawMessage<'a> {
    role: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    tool_calls: Option<Vec<ToolCall>>,
    tool_call_id: Option<String>,
}

/// A call in an assistant's message.
#[derive(Deserialize)]
pub(super) struct ToolCall {
    pub(super) id: Option<String>,
    pub(super) function: Option<Function>,
}

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The system or the developer.
    Instructions,
    User,
    Assistant,
    Tool,
}

/// One message.
pub(super) struct Message<'a> {
    pub(super) role: Role,
    pub(super) content: Option<&'a RawValue>,
    pub(super) calls: Vec<ToolCall>,
    pub(super) answers: Option<String>,
}

/// Reads a request, or refuses it as the service would.
pub(in super::super) fn read(body: &str) -> Result<Asked, Refusal> {
    let body: Body<'_> = serde_json::from_str(body).map_err(|error| parse_error(&error))?;
    let model = body
        .model
        .ok_or_else(|| Refusal::invalid("you must provide a model parameter").about("model"))?;
    let messages = messages(body.messages)?;
    check::check(&messages)?;
    let tools = body.tools.into_iter().flatten().filter_map(tool_name).collect();
    let usage = match body.stream_options.and_then(|options| options.include_usage) {
        Some(true) => UsageChunk::Wanted,
        Some(false) | None => UsageChunk::NotWanted,
    };
    let order = asked::Order::Chat(Order { model, usage });
    Ok(Asked { view: view::of(&messages, tools), delivery: Delivery::of(body.stream), order })
}

/// A function's name; any other tool goes by its type.
fn tool_name(tool: Tool) -> Option<String> {
    tool.function.and_then(|function| function.name).or(tool.r#type)
}

fn messages(raw: Option<Vec<RawMessage<'_>>>) -> Result<Vec<Message<'_>>, Refusal> {
    let missing = || Refusal::invalid("Missing required parameter: 'messages'.").about("messages");
    let raw = raw.ok_or_else(|| missing().coded("missing_required_parameter"))?;
    if raw.is_empty() {
        let says = "Invalid 'messages': empty array. Expected an array with minimum length 1, but \
                    got an empty array instead.";
        return Err(Refusal::invalid(says).about("messages").coded("empty_array"));
    }
    raw.into_iter().enumerate().map(|(place, raw)| message(place, raw)).collect()
}

fn message(place: usize, raw: RawMessage<'_>) -> Result<Message<'_>, Refusal> {
    let role = role(raw.role.as_deref())
        .map_err(|refusal| refusal.about(format!("messages[{place}].role")))?;
    let calls = raw.tool_calls.unwrap_or_default();
    Ok(Message { role, content: raw.content, calls, answers: raw.tool_call_id })
}

fn role(role: Option<&str>) -> Result<Role, Refusal> {
    match role {
        Some("system" | "developer") => Ok(Role::Instructions),
        Some("user") => Ok(Role::User),
        Some("assistant") => Ok(Role::Assistant),
        Some("tool") => Ok(Role::Tool),
        Some(other) => Err(Refusal::invalid(format!(
            "Invalid value: '{}'. Supported values are: 'system', 'assistant', 'user', \
             'function', 'tool', and 'developer'.",
            quoted(other)
        ))
        .coded("invalid_value")),
        None => Err(Refusal::invalid("Missing required parameter: 'role'.")
            .coded("missing_required_parameter")),
    }
}
