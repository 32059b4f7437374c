//! Reading a request.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::asked::{self, Asked, Delivery};
use super::super::body::quoted;
use super::super::content::{self, Content};
use super::super::refusal::Refusal;
use super::tools::{self, Tool};
use super::{check, view};

/// What the answer needs of the request.
pub(in super::super) struct Order {
    pub(super) model: String,
}

#[derive(Deserialize)]
pub(super) struct Body<'a> {
    model: Option<String>,
    max_tokens: Option<i64>,
    #[serde(borrow)]
    messages: Option<Vec<RawMessage<'a>>>,
    #[serde(borrow)]
    pub(super) tools: Option<Vec<Tool<'a>>>,
    stream: Option<bool>,
}

#[derive(Deserialize)]
struct RawMessage<'a> {
    role: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
}

/// One message.
pub(super) struct Message<'a> {
    pub(super) role: Role,
    pub(super) blocks: Vec<Block<'a>>,
}

/// A content block, as far as a script or a check looks at it.
#[derive(Deserialize)]
pub(super) struct Block<'a> {
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

/// Reads a request, or refuses it as the service would.
pub(in super::super) fn read(body: &str) -> Result<Asked, Refusal> {
    let body = parse(body)?;
    let model = required(body.model.clone(), "model")?;
    match required(body.max_tokens, "max_tokens")? {
        1.. => {}
        _ => {
            return Err(Refusal::invalid("max_tokens: Input should be greater than or equal to 1"));
        }
    }
    let tools = tools::names(body.tools.as_deref().unwrap_or_default())?;
    let messages = messages(&body)?;
    check::check(&messages)?;
    let order = asked::Order::Messages(Order { model });
    Ok(Asked { view: view::of(&messages, tools), delivery: Delivery::of(body.stream), order })
}

pub(super) fn parse(body: &str) -> Result<Body<'_>, Refusal> {
    serde_json::from_str(body).map_err(|error| match error.is_data() {
        true => Refusal::invalid(format!("Invalid request: {error}")),
        false => Refusal::invalid(format!("The request body is not valid JSON: {error}")),
    })
}

/// The messages of a request, each one readable.
pub(super) fn messages<'a>(body: &Body<'a>) -> Result<Vec<Message<'a>>, Refusal> {
    let messages = body.messages.as_deref().ok_or_else(|| missing("messages"))?;
    if messages.is_empty() {
        return Err(Refusal::invalid("messages: at least one message is required"));
    }
    messages.iter().enumerate().map(|(place, raw)| message(place, raw)).collect()
}

fn message<'a>(place: usize, raw: &RawMessage<'a>) -> Result<Message<'a>, Refusal> {
    let role = role(place, raw.role.as_deref())?;
    let content = raw.content.ok_or_else(|| missing(&format!("messages.{place}.content")))?;
    let blocks = match content::read(content) {
        Ok(Content::Text(text)) => vec![text_block(text)],
        Ok(Content::Parts(blocks)) => blocks,
        Err(error) => return Err(Refusal::invalid(format!("messages.{place}.content: {error}"))),
    };
    Ok(Message { role, blocks })
}

fn role(place: usize, role: Option<&str>) -> Result<Role, Refusal> {
    match role {
        Some("user") => Ok(Role::User),
        Some("assistant") => Ok(Role::Assistant),
        Some("system") => Err(Refusal::invalid(
            "messages: Unexpected role \"system\". The Messages API accepts a top-level `system` \
             parameter, not \"system\" as an input message role.",
        )),
        Some(other) => Err(Refusal::invalid(format!(
            "messages: Unexpected role \"{}\". Allowed roles are \"user\" or \"assistant\"",
            quoted(other)
        ))),
        None => Err(missing(&format!("messages.{place}.role"))),
    }
}

fn text_block<'a>(text: String) -> Block<'a> {
    Block {
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

fn required<T>(value: Option<T>, field: &str) -> Result<T, Refusal> {
    value.ok_or_else(|| missing(field))
}

fn missing(field: &str) -> Refusal {
    Refusal::invalid(format!("{field}: Field required"))
}
