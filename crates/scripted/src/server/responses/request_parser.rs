//! Parses a Responses request.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{conversation_check, script_view};
use crate::server::chat::rejection_for_invalid_json;
use crate::server::content::{self, MessageContent};
use crate::server::parsed_request::{self, ParsedRequest, ResponseDelivery};
use crate::server::rejection::RequestRejection;
use crate::server::request_body::truncate_quoted;

/// The part of the request that the answer needs: much of it is sent back.
pub(in crate::server) struct ResponsesSpec {
    pub(super) model: String,
    pub(super) instructions: Option<Box<RawValue>>,
    pub(super) max_output_tokens: Option<u64>,
    pub(super) metadata: Option<Box<RawValue>>,
    pub(super) tool_choice: Option<Box<RawValue>>,
    pub(super) tools: Option<Box<RawValue>>,
    pub(super) encrypts_reasoning: bool,
}

#[derive(Deserialize)]
struct ResponsesRequestBody<'a> {
    model: Option<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    instructions: Option<Box<RawValue>>,
    max_output_tokens: Option<u64>,
    metadata: Option<Box<RawValue>>,
    tool_choice: Option<Box<RawValue>>,
    tools: Option<Box<RawValue>>,
    include: Option<Vec<String>>,
    stream: Option<bool>,
    previous_response_id: Option<String>,
    #[serde(borrow)]
    conversation: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ResponsesTool {
    r#type: Option<String>,
    name: Option<String>,
}

/// One item of the input.
#[derive(Deserialize)]
pub(super) struct InputItem<'a> {
    pub(super) r#type: Option<String>,
    pub(super) role: Option<String>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    pub(super) call_id: Option<String>,
    pub(super) name: Option<String>,
    #[serde(borrow)]
    pub(super) output: Option<&'a RawValue>,
}

/// The kind of an item, as far as a script or a check needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputItemKind {
    Instructions,
    User,
    /// A text of the model, its reasoning, or anything else it produced.
    Model,
    Call,
    Result,
}

/// Parses a request, or rejects it as the service would.
pub(in crate::server) fn parse_request(body: &str) -> Result<ParsedRequest, RequestRejection> {
    let body: ResponsesRequestBody<'_> =
        serde_json::from_str(body).map_err(|error| rejection_for_invalid_json(&error))?;
    check_stateless(&body)?;
    let model = body.model.ok_or_else(|| missing_param_rejection("model"))?;
    let input = body.input.ok_or_else(|| missing_param_rejection("input"))?;
    let items = parse_items(input)?;
    let tools = tool_names(body.tools.as_deref())?;
    let sealed = |wanted: &String| wanted == "reasoning.encrypted_content";
    let encrypts_reasoning = body.include.unwrap_or_default().iter().any(sealed);
    let response_spec = parsed_request::ResponseSpec::Responses(ResponsesSpec {
        model,
        instructions: body.instructions,
        max_output_tokens: body.max_output_tokens,
        metadata: body.metadata,
        tool_choice: body.tool_choice,
        tools: body.tools,
        encrypts_reasoning,
    });
    Ok(ParsedRequest {
        view: script_view::view_of_items(&items, tools),
        delivery: ResponseDelivery::from_stream_flag(body.stream),
        response_spec,
    })
}

/// Rejects requests that refer to stored state: nothing is kept here between requests.
fn check_stateless(body: &ResponsesRequestBody<'_>) -> Result<(), RequestRejection> {
    if let Some(id) = &body.previous_response_id {
        let says = format!(
            "Previous response with id '{}' not found. The scripted server keeps no responses; \
             send the whole conversation as input.",
            truncate_quoted(id)
        );
        let refusal = RequestRejection::invalid(says).with_param("previous_response_id");
        return Err(refusal.with_code("previous_response_not_found"));
    }
    match body.conversation {
        Some(_) => Err(RequestRejection::invalid(
            "Conversation not found. The scripted server keeps no conversations; send the whole \
             conversation as input.",
        )
        .with_param("conversation")),
        None => Ok(()),
    }
}

fn parse_items(input: &RawValue) -> Result<Vec<InputItem<'_>>, RequestRejection> {
    let invalid = |error| RequestRejection::invalid(format!("Invalid type for 'input': {error}"));
    let read = content::parse_content::<InputItem<'_>>(input)
        .map_err(|error| invalid(error).with_param("input").with_code("invalid_type"))?;
    match read {
        MessageContent::Text(_) => Ok(vec![prompt_item(input)]),
        MessageContent::Parts(items) => {
            conversation_check::check_items(&items)?;
            Ok(items)
        }
    }
}

/// The item of a plain text, which is a user message.
fn prompt_item(text: &RawValue) -> InputItem<'_> {
    let (role, content) = (Some("user".to_owned()), Some(text));
    InputItem { r#type: None, role, content, call_id: None, name: None, output: None }
}

/// The names of functions; any other tool is named by its type.
fn tool_names(tools: Option<&RawValue>) -> Result<Vec<String>, RequestRejection> {
    let tools = tools.map_or("[]", RawValue::get);
    let tools: Vec<ResponsesTool> = serde_json::from_str(tools).map_err(|error| {
        RequestRejection::invalid(format!("Invalid 'tools': {error}"))
            .with_param("tools")
            .with_code("invalid_type")
    })?;
    Ok(tools.into_iter().filter_map(|tool| tool.name.or(tool.r#type)).collect())
}

fn missing_param_rejection(param: &str) -> RequestRejection {
    RequestRejection::invalid(format!("Missing required parameter: '{param}'."))
        .with_param(param)
        .with_code("missing_required_parameter")
}

impl InputItem<'_> {
    /// The kind of the item; `None` for an unknown role.
    pub(super) fn kind(&self) -> Option<InputItemKind> {
        match self.r#type.as_deref() {
            None | Some("message") => self.role_kind(),
            Some("function_call") => Some(InputItemKind::Call),
            Some("function_call_output") => Some(InputItemKind::Result),
            Some(_) => Some(InputItemKind::Model),
        }
    }

    fn role_kind(&self) -> Option<InputItemKind> {
        match self.role.as_deref()? {
            "system" | "developer" => Some(InputItemKind::Instructions),
            "user" => Some(InputItemKind::User),
            "assistant" => Some(InputItemKind::Model),
            _ => None,
        }
    }
}
