//! The request body around the messages, arranged for the provider's prompt cache: the part before
//! the messages stays the same from call to call; whatever may change is behind them.

use windlass_core::message::loaded_tools::OfferedTool;
use windlass_core::settings::conversation_settings::{CacheLifetime, ThinkingDisplay};

use crate::call::call_options::ReplyDelivery;
use crate::call::request_plan::{EffectiveToolChoice, RequestPlan};
use crate::call::thinking_plan::{ThinkingParam, effort_name};
use crate::json::json_writer::{JsonListWriter, JsonObjectWriter};
use crate::wire::EXPECTED_TAIL_BYTES;

/// The smallest thinking budget that the API accepts.
const MIN_THINKING_BUDGET_TOKENS: u64 = 1_024;

/// A prompt cache marker, as it is inserted into a block.
pub(crate) fn cache_marker(cache: CacheLifetime) -> Option<&'static str> {
    match cache {
        CacheLifetime::Off => None,
        CacheLifetime::FiveMinutes => Some(",\"cache_control\":{\"type\":\"ephemeral\"}"),
        CacheLifetime::OneHour => {
            Some(",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}")
        }
    }
}

/// Encodes everything before the messages.
pub(crate) fn encode_head(plan: &RequestPlan<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut body = JsonObjectWriter::open(&mut out);
    body.string("model", &plan.profile.model);
    let tools = plan.offered_tools();
    if !tools.is_empty() {
        write_tools(body.key("tools"), &tools, plan.cache_lifetime);
    }
    write_system(&mut body, plan);
    body.key("messages").push(b'[');
    out
}

/// Writes the tools. Deferred ones come last and are no part of the cached prefix: the service
/// accepts no cache marker there.
fn write_tools(out: &mut Vec<u8>, tools: &[OfferedTool<'_>], cache: CacheLifetime) {
    let last_visible = tools.iter().rposition(|tool| !tool.is_deferred);
    let mut list = JsonListWriter::open(out);
    for (at, tool) in tools.iter().enumerate() {
        let out = list.item();
        let mut object = JsonObjectWriter::open(out);
        object.string("name", &tool.spec.name);
        object.string("description", &tool.spec.description);
        object.raw("input_schema", tool.spec.input_schema.text());
        if tool.is_deferred {
            object.raw("defer_loading", "true");
        }
        if last_visible == Some(at) {
            write_cache_marker(&mut object, cache);
        }
        object.close();
    }
    list.close();
}

/// Writes the system prompt. The note of plan mode, the digest and the directive change while the
/// prompt stays: the cache marker is before them, so that the cached tools and prompt remain valid.
fn write_system(body: &mut JsonObjectWriter<'_>, plan: &RequestPlan<'_>) {
    let directive = plan.tool_directive();
    let settings = &plan.request.settings;
    let texts = [
        Some(&*settings.system),
        settings.plan_mode_note(),
        Some(&*plan.request.journal_digest),
        directive.as_deref(),
    ];
    let texts: Vec<&str> =
        texts.into_iter().flatten().filter(|text| !text.trim().is_empty()).collect();
    if texts.is_empty() {
        return;
    }
    let mut list = JsonListWriter::open(body.key("system"));
    for (at, text) in texts.iter().enumerate() {
        let mut block = JsonObjectWriter::open(list.item());
        block.string("type", "text");
        block.string("text", text);
        if at == 0 {
            write_cache_marker(&mut block, plan.cache_lifetime);
        }
        block.close();
    }
    list.close();
}

fn write_cache_marker(object: &mut JsonObjectWriter<'_>, cache: CacheLifetime) {
    match cache {
        CacheLifetime::Off => {}
        CacheLifetime::FiveMinutes => object.raw("cache_control", "{\"type\":\"ephemeral\"}"),
        CacheLifetime::OneHour => {
            object.raw("cache_control", "{\"type\":\"ephemeral\",\"ttl\":\"1h\"}");
        }
    }
}

/// Encodes everything behind the messages.
pub(crate) fn encode_tail(plan: &RequestPlan<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(EXPECTED_TAIL_BYTES);
    out.push(b']');
    let mut body = JsonObjectWriter::resume(&mut out);
    body.value("max_tokens", &plan.attempt.max_tokens);
    write_tool_choice(&mut body, plan);
    write_thinking(&mut body, plan);
    write_output_config(&mut body, plan);
    let stops = &plan.request.settings.stop_map;
    if !stops.is_empty() {
        let stops: Vec<&str> = stops.keys().map(|stop| &**stop).collect();
        body.value("stop_sequences", &stops);
    }
    if let Some(temperature) = plan.temperature {
        body.value("temperature", &temperature.as_f64());
    }
    if let Some(user) = &plan.profile.user {
        let mut metadata = JsonObjectWriter::open(body.key("metadata"));
        metadata.string("user_id", user);
        metadata.close();
    }
    if plan.attempt.delivery == ReplyDelivery::Streamed {
        body.raw("stream", "true");
    }
    body.close();
    out
}

fn write_tool_choice(body: &mut JsonObjectWriter<'_>, plan: &RequestPlan<'_>) {
    // Without tools the API accepts no tool choice.
    if plan.offered_tools().is_empty() {
        return;
    }
    match plan.tool_choice {
        EffectiveToolChoice::Auto | EffectiveToolChoice::RequestedInWords(_) => {}
        EffectiveToolChoice::NoTools => body.raw("tool_choice", "{\"type\":\"none\"}"),
        EffectiveToolChoice::OnlyOffered(_) => body.raw("tool_choice", "{\"type\":\"any\"}"),
        EffectiveToolChoice::Named(name) => {
            let mut choice = JsonObjectWriter::open(body.key("tool_choice"));
            choice.string("type", "tool");
            choice.string("name", name);
            choice.close();
        }
    }
}

fn write_thinking(body: &mut JsonObjectWriter<'_>, plan: &RequestPlan<'_>) {
    match plan.thinking {
        ThinkingParam::Unset => {}
        ThinkingParam::Off => body.raw("thinking", "{\"type\":\"disabled\"}"),
        ThinkingParam::BetweenTools => body.raw("thinking", "{\"type\":\"between_tools\"}"),
        ThinkingParam::Adaptive => {
            let mut thinking = JsonObjectWriter::open(body.key("thinking"));
            thinking.string("type", "adaptive");
            write_thinking_display(&mut thinking, plan);
            thinking.close();
        }
        ThinkingParam::Budget { tokens } => {
            // The budget is part of the output limit and must be less.
            let tokens = tokens.min(plan.attempt.max_tokens.saturating_sub(1));
            if tokens >= MIN_THINKING_BUDGET_TOKENS {
                let mut thinking = JsonObjectWriter::open(body.key("thinking"));
                thinking.string("type", "enabled");
                thinking.value("budget_tokens", &tokens);
                write_thinking_display(&mut thinking, plan);
                thinking.close();
            }
        }
    }
}

fn write_thinking_display(thinking: &mut JsonObjectWriter<'_>, plan: &RequestPlan<'_>) {
    match plan.request.settings.thinking.display {
        None => {}
        Some(ThinkingDisplay::Summarized) => thinking.string("display", "summarized"),
        Some(ThinkingDisplay::Omitted) => thinking.string("display", "omitted"),
        Some(ThinkingDisplay::Highlights) => thinking.string("display", "highlights"),
    }
}

fn write_output_config(body: &mut JsonObjectWriter<'_>, plan: &RequestPlan<'_>) {
    if plan.effort.is_none() && plan.task_budget_tokens.is_none() {
        return;
    }
    let mut config = JsonObjectWriter::open(body.key("output_config"));
    if let Some(effort) = plan.effort {
        config.string("effort", effort_name(effort));
    }
    if let Some(tokens) = plan.task_budget_tokens {
        let mut budget = JsonObjectWriter::open(config.key("task_budget"));
        budget.string("type", "tokens");
        budget.value("total", &tokens);
        if let Some(remaining) = plan.request.task_remaining_tokens {
            budget.value("remaining", &remaining);
        }
        budget.close();
    }
    config.close();
}
