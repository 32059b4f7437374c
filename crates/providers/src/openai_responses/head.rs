//! What stands around the items of a request. Nothing is kept on the server: our own log is the
//! one that counts.

use windlass_core::settings::{Settings, ToolSpec};

use crate::capabilities::ThinkingKind;
use crate::json::{List, Object};
use crate::names::Dialect;
use crate::options::{Delivery, Effort, Thinking, ToolChoice};
use crate::plan::{Choice, Plan, Planned};
use crate::wire::How;

/// The smallest output limit the format takes.
const LEAST_OUTPUT_TOKENS: u64 = 16;

/// Everything up to the items.
pub(crate) fn head(settings: &Settings, plan: &Plan, dialect: Dialect) -> Vec<u8> {
    let mut out = Vec::new();
    let mut body = Object::open(&mut out);
    body.string("model", &plan.model);
    body.raw("store", "false");
    write_instructions(&mut body, settings, plan);
    let tools: Vec<&ToolSpec> = settings
        .tools
        .iter()
        .filter(|tool| plan.offers(&tool.name) && is_wanted(plan, dialect, &tool.name))
        .collect();
    if !tools.is_empty() {
        write_tools(body.key("tools"), &tools);
        write_choice(&mut body, plan, dialect);
    }
    body.key("input").push(b'[');
    out
}

/// Where a named choice is not understood, the one tool is all that is offered.
fn is_wanted(plan: &Plan, dialect: Dialect, tool: &str) -> bool {
    match &plan.choice {
        Choice::Said(ToolChoice::Tool(only)) if !dialect.takes_named_choice() => **only == *tool,
        Choice::Said(_) | Choice::Asked(_) => true,
    }
}

fn write_instructions(body: &mut Object<'_>, settings: &Settings, plan: &Plan) {
    let directive = plan.directive();
    let texts = [Some(&*settings.system), directive.as_deref()];
    let texts: Vec<&str> =
        texts.into_iter().flatten().filter(|text| !text.trim().is_empty()).collect();
    if !texts.is_empty() {
        body.string("instructions", &texts.join("\n\n"));
    }
}

fn write_tools(out: &mut Vec<u8>, tools: &[&ToolSpec]) {
    let mut list = List::open(out);
    for tool in tools {
        let mut object = Object::open(list.item());
        object.string("type", "function");
        object.string("name", &tool.name);
        object.string("description", &tool.description);
        object.raw("parameters", tool.input_schema.text());
        // The strict mode refuses most schemas that were not written for it.
        object.raw("strict", "false");
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
            choice.string("name", name);
            choice.close();
        }
    }
}

/// Room for a usual tail.
const TAIL_BYTES: usize = 256;

/// Everything behind the items.
pub(crate) fn tail(planned: &Planned, how: &How) -> Vec<u8> {
    let mut out = Vec::with_capacity(TAIL_BYTES);
    out.push(b']');
    let mut body = Object::resume(&mut out);
    body.value("max_output_tokens", &how.max_tokens.max(LEAST_OUTPUT_TOKENS));
    // Reasoning comes back sealed, so that it can be returned although the server keeps nothing.
    if planned.abilities.thinking.contains(&ThinkingKind::Always) {
        body.raw("include", "[\"reasoning.encrypted_content\"]");
    }
    write_reasoning(&mut body, &planned.plan);
    if let Some(user) = &planned.plan.user {
        body.string("safety_identifier", user);
    }
    if how.delivery == Delivery::Streamed {
        body.raw("stream", "true");
    }
    body.close();
    out
}

fn write_reasoning(body: &mut Object<'_>, plan: &Plan) {
    let effort = match (plan.effort, plan.thinking) {
        (Some(Effort::Max), _) => Some(Effort::Xhigh.as_str()),
        (Some(effort), _) => Some(effort.as_str()),
        (None, Thinking::Off) => Some("none"),
        (None, _) => None,
    };
    let summary = plan.thinking == Thinking::Adaptive;
    if effort.is_none() && !summary {
        return;
    }
    let mut reasoning = Object::open(body.key("reasoning"));
    if let Some(effort) = effort {
        reasoning.string("effort", effort);
    }
    if summary {
        reasoning.string("summary", "auto");
    }
    reasoning.close();
}
