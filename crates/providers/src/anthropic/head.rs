//! What stands around the messages of a request. The part before them stays the same from call to
//! call; whatever may change stands behind them.

use windlass_core::settings::{CacheLifetime, ToolSpec};

use crate::json::{List, Object};
use crate::options::Delivery;
use crate::plan::{Choice, Plan};
use crate::thinking::{Thinking, word};

/// The smallest budget the API takes.
const LEAST_BUDGET_TOKENS: u64 = 1_024;

/// A cache marker as it is spliced into a block.
pub(crate) fn marker(cache: CacheLifetime) -> Option<&'static str> {
    match cache {
        CacheLifetime::Off => None,
        CacheLifetime::FiveMinutes => Some(",\"cache_control\":{\"type\":\"ephemeral\"}"),
        CacheLifetime::OneHour => {
            Some(",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}")
        }
    }
}

/// Everything up to the messages.
pub(crate) fn head(plan: &Plan<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut body = Object::open(&mut out);
    body.string("model", &plan.known.model);
    let tools: Vec<&ToolSpec> = plan.tools().collect();
    if !tools.is_empty() {
        write_tools(body.key("tools"), &tools, plan.cache);
    }
    write_system(&mut body, plan);
    body.key("messages").push(b'[');
    out
}

fn write_tools(out: &mut Vec<u8>, tools: &[&ToolSpec], cache: CacheLifetime) {
    let mut list = List::open(out);
    for (at, tool) in tools.iter().enumerate() {
        let out = list.item();
        let mut object = Object::open(out);
        object.string("name", &tool.name);
        object.string("description", &tool.description);
        object.raw("input_schema", tool.input_schema.text());
        if at + 1 == tools.len() {
            mark(&mut object, cache);
        }
        object.close();
    }
    list.close();
}

/// The note of plan mode, the digest and the directive change while the prompt stays: the marker stands before them, so
/// that what is cached of tools and prompt outlives them.
fn write_system(body: &mut Object<'_>, plan: &Plan<'_>) {
    let directive = plan.directive();
    let settings = &plan.request.settings;
    let texts = [
        Some(&*settings.system),
        settings.plan_note(),
        Some(&*plan.request.digest),
        directive.as_deref(),
    ];
    let texts: Vec<&str> =
        texts.into_iter().flatten().filter(|text| !text.trim().is_empty()).collect();
    if texts.is_empty() {
        return;
    }
    let mut list = List::open(body.key("system"));
    for (at, text) in texts.iter().enumerate() {
        let mut block = Object::open(list.item());
        block.string("type", "text");
        block.string("text", text);
        if at == 0 {
            mark(&mut block, plan.cache);
        }
        block.close();
    }
    list.close();
}

fn mark(object: &mut Object<'_>, cache: CacheLifetime) {
    match cache {
        CacheLifetime::Off => {}
        CacheLifetime::FiveMinutes => object.raw("cache_control", "{\"type\":\"ephemeral\"}"),
        CacheLifetime::OneHour => {
            object.raw("cache_control", "{\"type\":\"ephemeral\",\"ttl\":\"1h\"}");
        }
    }
}

/// Room for a usual tail.
const TAIL_BYTES: usize = 256;

/// Everything behind the messages.
pub(crate) fn tail(plan: &Plan<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(TAIL_BYTES);
    out.push(b']');
    let mut body = Object::resume(&mut out);
    body.value("max_tokens", &plan.how.max_tokens);
    write_choice(&mut body, plan);
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
    if let Some(user) = &plan.known.user {
        let mut metadata = Object::open(body.key("metadata"));
        metadata.string("user_id", user);
        metadata.close();
    }
    if plan.how.delivery == Delivery::Streamed {
        body.raw("stream", "true");
    }
    body.close();
    out
}

fn write_choice(body: &mut Object<'_>, plan: &Plan<'_>) {
    // Without tools the API takes no choice.
    if plan.request.settings.tools.is_empty() {
        return;
    }
    match plan.choice {
        Choice::Open | Choice::Asked(_) => {}
        Choice::Nothing => body.raw("tool_choice", "{\"type\":\"none\"}"),
        Choice::Alone(_) => body.raw("tool_choice", "{\"type\":\"any\"}"),
        Choice::Named(name) => {
            let mut choice = Object::open(body.key("tool_choice"));
            choice.string("type", "tool");
            choice.string("name", name);
            choice.close();
        }
    }
}

fn write_thinking(body: &mut Object<'_>, plan: &Plan<'_>) {
    match plan.thinking {
        Thinking::Unset => {}
        Thinking::Off => body.raw("thinking", "{\"type\":\"disabled\"}"),
        Thinking::BetweenTools => body.raw("thinking", "{\"type\":\"between_tools\"}"),
        Thinking::Adaptive => body.raw("thinking", "{\"type\":\"adaptive\"}"),
        Thinking::Budget { tokens } => {
            // The budget is part of the output limit and must be less.
            let tokens = tokens.min(plan.how.max_tokens.saturating_sub(1));
            if tokens >= LEAST_BUDGET_TOKENS {
                let mut thinking = Object::open(body.key("thinking"));
                thinking.string("type", "enabled");
                thinking.value("budget_tokens", &tokens);
                thinking.close();
            }
        }
    }
}

fn write_output_config(body: &mut Object<'_>, plan: &Plan<'_>) {
    if plan.effort.is_none() && plan.task_tokens.is_none() {
        return;
    }
    let mut config = Object::open(body.key("output_config"));
    if let Some(effort) = plan.effort {
        config.string("effort", word(effort));
    }
    if let Some(tokens) = plan.task_tokens {
        let mut budget = Object::open(config.key("task_budget"));
        budget.string("type", "tokens");
        budget.value("total", &tokens);
        if let Some(left) = plan.request.task_left_tokens {
            budget.value("remaining", &left);
        }
        budget.close();
    }
    config.close();
}
