//! What both of OpenAI's formats have in common.

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_core::settings::ToolSpec;

use crate::json::{List, Object};
use crate::numbers::{Count, ReportedUsage};
use crate::plan::{Choice, Plan};
use crate::thinking::{Thinking, word};

/// Writes the tools on offer, and whatever is `around` each of them.
pub(crate) fn write_tools(
    body: &mut Object<'_>,
    plan: &Plan<'_>,
    write: impl Fn(&mut Object<'_>, &ToolSpec),
) {
    let mut tools = plan.tools().peekable();
    if tools.peek().is_none() {
        return;
    }
    let mut list = List::open(body.key("tools"));
    for tool in tools {
        let mut object = Object::open(list.item());
        object.string("type", "function");
        write(&mut object, tool);
        object.close();
    }
    list.close();
}

/// What both formats say of a tool.
pub(crate) fn write_tool(object: &mut Object<'_>, tool: &ToolSpec) {
    object.string("name", &tool.name);
    object.string("description", &tool.description);
    object.raw("parameters", tool.input_schema.text());
}

/// Writes the choice of tools; `name` names one.
pub(crate) fn write_choice(
    body: &mut Object<'_>,
    plan: &Plan<'_>,
    name: impl Fn(&mut Object<'_>, &str),
) {
    // Without tools the servers take no choice.
    if plan.request.settings.tools.is_empty() {
        return;
    }
    match plan.choice {
        Choice::Open | Choice::Asked(_) => {}
        Choice::Nothing => body.string("tool_choice", "none"),
        Choice::Alone(_) => body.string("tool_choice", "required"),
        Choice::Named(tool) => {
            let mut choice = Object::open(body.key("tool_choice"));
            choice.string("type", "function");
            name(&mut choice, tool);
            choice.close();
        }
    }
}

/// The system prompt with whatever belongs to it; nothing if there is nothing to say.
pub(crate) fn system(plan: &Plan<'_>) -> Option<String> {
    let (system, directive) = (plan.request.system(), plan.directive());
    let texts = [Some(&*system), directive.as_deref()];
    let texts: Vec<&str> =
        texts.into_iter().flatten().filter(|text| !text.trim().is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// The word for how hard to think; a model that should not think is told so.
pub(crate) fn effort(plan: &Plan<'_>) -> Option<&'static str> {
    match (plan.effort, plan.thinking) {
        (Some(effort), _) => Some(word(effort)),
        (None, Thinking::Off) => Some("none"),
        (None, _) => None,
    }
}

#[derive(Debug, Default, Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Count,
    #[serde(default)]
    cache_write_tokens: Count,
}

/// What a call used, with the input by cache class: the formats count the cached tokens among the
/// others. Some servers say how many were cached beside the details.
pub(crate) fn usage(
    input: Count,
    output: Count,
    details: Option<&RawValue>,
    cached_beside: Count,
) -> ReportedUsage {
    let details: Details =
        details.and_then(|details| serde_json::from_str(details.get()).ok()).unwrap_or_default();
    let read = details.cached_tokens.or(cached_beside.or(0));
    let written = details.cache_write_tokens.or(0);
    let fresh = |input: u64| input.saturating_sub(read).saturating_sub(written);
    ReportedUsage {
        input: Count(input.0.map(fresh)),
        output,
        cache_read: Count(Some(read)),
        cache_write: Count(Some(written)),
    }
}

/// What a server says was used, whatever it is: something that is no object says nothing.
pub(crate) fn read_usage<'a, T: Deserialize<'a>>(usage: Option<&'a RawValue>) -> Option<T> {
    usage.and_then(|usage| serde_json::from_str(usage.get()).ok())
}
