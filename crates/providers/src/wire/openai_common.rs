//! What both OpenAI formats share.

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_core::settings::conversation_settings::ToolSpec;

use crate::call::request_plan::{EffectiveToolChoice, RequestPlan};
use crate::call::thinking_plan::{ThinkingParam, effort_name};
use crate::json::json_writer::{JsonListWriter, JsonObjectWriter};
use crate::wire::reported_usage::{ReportedUsage, TokenCount};

/// Writes the offered tools; `write` writes the fields of each one in the format's own shape.
pub(crate) fn write_tools(
    body: &mut JsonObjectWriter<'_>,
    plan: &RequestPlan<'_>,
    write: impl Fn(&mut JsonObjectWriter<'_>, &ToolSpec),
) {
    let tools = plan.offered_tools();
    if tools.is_empty() {
        return;
    }
    let mut list = JsonListWriter::open(body.key("tools"));
    for tool in tools {
        let mut object = JsonObjectWriter::open(list.item());
        object.string("type", "function");
        write(&mut object, &tool.spec);
        object.close();
    }
    list.close();
}

/// Writes the fields of a tool that both formats share.
pub(crate) fn write_tool(object: &mut JsonObjectWriter<'_>, tool: &ToolSpec) {
    object.string("name", &tool.name);
    object.string("description", &tool.description);
    object.raw("parameters", tool.input_schema.text());
}

/// Writes the tool choice; `name` writes the choice of a named tool.
pub(crate) fn write_tool_choice(
    body: &mut JsonObjectWriter<'_>,
    plan: &RequestPlan<'_>,
    name: impl Fn(&mut JsonObjectWriter<'_>, &str),
) {
    // Without tools the servers accept no tool choice.
    if plan.offered_tools().is_empty() {
        return;
    }
    match plan.tool_choice {
        EffectiveToolChoice::Auto | EffectiveToolChoice::RequestedInWords(_) => {}
        EffectiveToolChoice::NoTools => body.string("tool_choice", "none"),
        EffectiveToolChoice::OnlyOffered(_) => body.string("tool_choice", "required"),
        EffectiveToolChoice::Named(tool) => {
            let mut choice = JsonObjectWriter::open(body.key("tool_choice"));
            choice.string("type", "function");
            name(&mut choice, tool);
            choice.close();
        }
    }
}

/// The system prompt with everything that belongs to it; `None` if it is empty.
pub(crate) fn system_text(plan: &RequestPlan<'_>) -> Option<String> {
    let (system, directive) = (plan.request.system_prompt(), plan.tool_directive());
    let texts = [Some(&*system), directive.as_deref()];
    let texts: Vec<&str> =
        texts.into_iter().flatten().filter(|text| !text.trim().is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// The reasoning effort; `none` for a model that should not think.
pub(crate) fn reasoning_effort(plan: &RequestPlan<'_>) -> Option<&'static str> {
    match (plan.effort, plan.thinking) {
        (Some(effort), _) => Some(effort_name(effort)),
        (None, ThinkingParam::Off) => Some("none"),
        (None, _) => None,
    }
}

#[derive(Debug, Default, Deserialize)]
struct CachedTokenDetails {
    #[serde(default)]
    cached_tokens: TokenCount,
    #[serde(default)]
    cache_write_tokens: TokenCount,
}

/// The usage of a call, with the input by cache class: the formats count cached tokens as part of
/// the input. Some servers report the number of cached tokens outside the details.
pub(crate) fn reported_usage(
    input: TokenCount,
    output: TokenCount,
    details: Option<&RawValue>,
    cached_beside: TokenCount,
) -> ReportedUsage {
    let details: CachedTokenDetails =
        details.and_then(|details| serde_json::from_str(details.get()).ok()).unwrap_or_default();
    let read = details.cached_tokens.value_or(cached_beside.value_or(0));
    let written = details.cache_write_tokens.value_or(0);
    let fresh = |input: u64| input.saturating_sub(read).saturating_sub(written);
    ReportedUsage {
        input: TokenCount(input.0.map(fresh)),
        output,
        cache_read: TokenCount(Some(read)),
        cache_write: TokenCount(Some(written)),
    }
}

/// Parses the usage that a server reports; `None` for a value that cannot be parsed.
pub(crate) fn parse_usage<'a, T: Deserialize<'a>>(usage: Option<&'a RawValue>) -> Option<T> {
    usage.and_then(|usage| serde_json::from_str(usage.get()).ok())
}
