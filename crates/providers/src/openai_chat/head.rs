//! What stands around the messages of a chat request.

use windlass_core::settings::{Settings, ToolSpec};

use crate::capabilities::StopStrings;
use crate::json::{List, Object};
use crate::names::Dialect;
use crate::options::{Delivery, Effort, Thinking, ToolChoice};
use crate::plan::{Choice, Plan, Planned};
use crate::wire::How;

/// Stop strings the format has room for.
pub(crate) const MOST_STOPS: usize = 4;

/// Everything up to the conversation's messages, the system prompt included.
pub(crate) fn head(settings: &Settings, plan: &Plan, dialect: Dialect) -> Vec<u8> {
    let mut out = Vec::new();
    let mut body = Object::open(&mut out);
    body.string("model", &plan.model);
    let tools: Vec<&ToolSpec> = settings
        .tools
        .iter()
        .filter(|tool| plan.offers(&tool.name) && is_wanted(plan, dialect, &tool.name))
        .collect();
    if !tools.is_empty() {
        write_tools(body.key("tools"), &tools);
        write_choice(&mut body, plan, dialect);
    }
    let out_messages = body.key("messages");
    out_messages.push(b'[');
    write_system(out_messages, settings, plan);
    out
}

/// Where a named choice is not understood, the one tool is all that is offered.
fn is_wanted(plan: &Plan, dialect: Dialect, tool: &str) -> bool {
    match &plan.choice {
        Choice::Said(ToolChoice::Tool(only)) if !dialect.takes_named_choice() => **only == *tool,
        Choice::Said(_) | Choice::Asked(_) => true,
    }
}

fn write_tools(out: &mut Vec<u8>, tools: &[&ToolSpec]) {
    let mut list = List::open(out);
    for tool in tools {
        let mut object = Object::open(list.item());
        object.string("type", "function");
        let mut function = Object::open(object.key("function"));
        function.string("name", &tool.name);
        function.string("description", &tool.description);
        function.raw("parameters", tool.input_schema.text());
        function.close();
        object.close();
    }
    list.close();
}

fn write_choice(body: &mut Object<'_>, plan: &Plan, dialect: Dialect) {
    match &plan.choice {
        Choice::Asked(_) | Choice::Said(ToolChoice::Auto) => {}
        Choice::Said(ToolChoice::Any) => body.string("tool_choice", "required"),
        Choice::Said(ToolChoice::None) => body.string("tool_choice", "none"),
        Choice::Said(ToolChoice::Tool(_)) if !dialect.takes_named_choice() => {
            body.string("tool_choice", "required");
        }
        Choice::Said(ToolChoice::Tool(name)) => {
            let mut choice = Object::open(body.key("tool_choice"));
            choice.string("type", "function");
            let mut function = Object::open(choice.key("function"));
            function.string("name", name);
            function.close();
            choice.close();
        }
    }
}

fn write_system(out: &mut Vec<u8>, settings: &Settings, plan: &Plan) {
    let directive = plan.directive();
    let texts = [Some(&*settings.system), directive.as_deref()];
    let texts: Vec<&str> =
        texts.into_iter().flatten().filter(|text| !text.trim().is_empty()).collect();
    if texts.is_empty() {
        return;
    }
    let mut message = Object::open(out);
    message.string("role", "system");
    message.string("content", &texts.join("\n\n"));
    message.close();
    // The conversation always has a message of its own.
    out.push(b',');
}

/// Room for a usual tail.
const TAIL_BYTES: usize = 256;

/// Everything behind the messages.
pub(crate) fn tail(settings: &Settings, planned: &Planned, dialect: Dialect, how: &How) -> Vec<u8> {
    let mut out = Vec::with_capacity(TAIL_BYTES);
    out.push(b']');
    let mut body = Object::resume(&mut out);
    body.value(dialect.output_limit_field(), &how.max_tokens);
    if let Some(effort) = effort(&planned.plan) {
        body.string("reasoning_effort", effort);
    }
    let stops: Vec<&str> = settings.stop_map.keys().map(|stop| &**stop).take(MOST_STOPS).collect();
    if !stops.is_empty() && planned.abilities.stop_strings == StopStrings::Sent {
        body.value("stop", &stops);
    }
    if let Some(user) = &planned.plan.user {
        body.string("user", user);
    }
    if how.delivery == Delivery::Streamed {
        body.raw("stream", "true");
        body.raw("stream_options", "{\"include_usage\":true}");
    }
    body.close();
    out
}

/// The highest effort has no name here; a model that should not think is told so.
fn effort(plan: &Plan) -> Option<&'static str> {
    match (plan.effort, plan.thinking) {
        (Some(Effort::Max), _) => Some(Effort::Xhigh.as_str()),
        (Some(effort), _) => Some(effort.as_str()),
        (None, Thinking::Off) => Some("none"),
        (None, Thinking::Unset | Thinking::Adaptive | Thinking::Budget { .. }) => None,
    }
}
