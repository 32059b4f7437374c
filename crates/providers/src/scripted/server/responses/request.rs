//! Reading a request.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::asked::{self, Asked, Delivery};
use super::super::body::quoted;
use super::super::chat::parse_error;
use super::super::content::{self, Content};
use super::super::refusal::Refusal;
use super::{check, view};

/// What the answer needs of the request: much of it is sent back.
pub(in super::super) struct Order {
    pub(super) model: String,
    pub(super) instructions: Option<Box<RawValue>>,
    pub(super) max_output_tokens: Option<u64>,
    pub(super) metadata: Option<Box<RawValue>>,
    pub(super) tool_choice: Option<Box<RawValue>>,
    pub(super) tools: Option<Box<RawValue>>,
    pub(super) reasoning: Reasoning,
}

/// Whether thoughts come with their sealed form, which a client without a store sends back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reasoning {
    Sealed,
    Plain,
}

#[derive(Deserialize)]
struct Body<'a> {
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
struct Tool {
    r#type: Option<String>,
    name: Option<String>,
}

/// One item of the input.
#[derive(Deserialize)]
pub(super) struct Item<'a> {
    pub(super) r#type: Option<String>,
    pub(super) role: Option<String>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    pub(super) call_id: Option<String>,
    pub(super) name: Option<String>,
    #[serde(borrow)]
    pub(super) output: Option<&'a RawValue>,
}

/// What an item is, as far as a script or a check looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Instructions,
    User,
    /// A text of the model, its thoughts, or anything else it made.
    Model,
    Call,
    Result,
}

/// Reads a request, or refuses it as the service would.
pub(in super::super) fn read(body: &str) -> Result<Asked, Refusal> {
    let body: Body<'_> = serde_json::from_str(body).map_err(|error| parse_error(&error))?;
    stateless(&body)?;
    let model = body.model.ok_or_else(|| missing("model"))?;
    let input = body.input.ok_or_else(|| missing("input"))?;
    let items = items(input)?;
    let tools = tool_names(body.tools.as_deref())?;
    let sealed = |wanted: &String| wanted == "reasoning.encrypted_content";
    let reasoning = match body.include.unwrap_or_default().iter().any(sealed) {
        true => Reasoning::Sealed,
        false => Reasoning::Plain,
    };
    let order = asked::Order::Responses(Order {
        model,
        instructions: body.instructions,
        max_output_tokens: body.max_output_tokens,
        metadata: body.metadata,
        tool_choice: body.tool_choice,
        tools: body.tools,
        reasoning,
    });
    Ok(Asked { view: view::of(&items, tools), delivery: Delivery::of(body.stream), order })
}

/// Nothing is kept here between requests.
fn stateless(body: &Body<'_>) -> Result<(), Refusal> {
    if let Some(id) = &body.previous_response_id {
        let says = format!(
            "Previous response with id '{}' not found. The scripted server keeps no responses; \
             send the whole conversation as input.",
            quoted(id)
        );
        let refusal = Refusal::invalid(says).about("previous_response_id");
        return Err(refusal.coded("previous_response_not_found"));
    }
    match body.conversation {
        Some(_) => Err(Refusal::invalid(
            "Conversation not found. The scripted server keeps no conversations; send the whole \
             conversation as input.",
        )
        .about("conversation")),
        None => Ok(()),
    }
}

fn items(input: &RawValue) -> Result<Vec<Item<'_>>, Refusal> {
    let invalid = |error| Refusal::invalid(format!("Invalid type for 'input': {error}"));
    let read = content::read::<Item<'_>>(input)
        .map_err(|error| invalid(error).about("input").coded("invalid_type"))?;
    match read {
        Content::Text(_) => Ok(vec![prompt(input)]),
        Content::Parts(items) => {
            check::check(&items)?;
            Ok(items)
        }
    }
}

/// A text alone is a user's message.
fn prompt(text: &RawValue) -> Item<'_> {
    let (role, content) = (Some("user".to_owned()), Some(text));
    Item { r#type: None, role, content, call_id: None, name: None, output: None }
}

/// A function's name; any other tool goes by its type.
fn tool_names(tools: Option<&RawValue>) -> Result<Vec<String>, Refusal> {
    let tools = tools.map_or("[]", RawValue::get);
    let tools: Vec<Tool> = serde_json::from_str(tools).map_err(|error| {
        Refusal::invalid(format!("Invalid 'tools': {error}")).about("tools").coded("invalid_type")
    })?;
    Ok(tools.into_iter().filter_map(|tool| tool.name.or(tool.r#type)).collect())
}

fn missing(param: &str) -> Refusal {
    Refusal::invalid(format!("Missing required parameter: '{param}'."))
        .about(param)
        .coded("missing_required_parameter")
}

impl Item<'_> {
    /// What it is; nothing for a role nobody knows.
    pub(super) fn kind(&self) -> Option<Kind> {
        match self.r#type.as_deref() {
            None | Some("message") => self.speaker(),
            Some("function_call") => Some(Kind::Call),
            Some("function_call_output") => Some(Kind::Result),
            Some(_) => Some(Kind::Model),
        }
    }

    fn speaker(&self) -> Option<Kind> {
        match self.role.as_deref()? {
            "system" | "developer" => Some(Kind::Instructions),
            "user" => Some(Kind::User),
            "assistant" => Some(Kind::Model),
            _ => None,
        }
    }
}
