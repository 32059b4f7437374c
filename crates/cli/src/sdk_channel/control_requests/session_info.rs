//! Requests that ask about the session: how full its context is, what it cost, what it offers.

use serde_json::{Value, json};
use windlass::core::run::conversation::Conversation;

use super::ControlAnswer;
use crate::inspect::compaction_report::report_compaction;
use crate::output;
use crate::sdk;
use crate::sdk_channel::channel_loop::Channel;
use crate::sdk_channel::initialize_response;

/// Micro-dollars per dollar.
const MICROS_PER_USD: f64 = 1_000_000.0;

/// How full the context is, and with what.
pub(super) async fn get_context_usage(channel: &Channel) -> ControlAnswer {
    let now = load(channel).await?;
    let settings = &channel.setup.settings;
    let window = settings.model.window_tokens;
    let report = report_compaction(&now);
    let tokens_of = |bytes: usize| {
        let tokens = now.meter.estimate(u64::try_from(bytes).unwrap_or(u64::MAX));
        if bytes == 0 { 0 } else { tokens }
    };
    let tool_bytes = |prefix: fn(&str) -> bool| -> usize {
        let tools = settings.tools.iter().filter(|tool| prefix(&tool.name));
        tools.map(|tool| tool.description.len() + tool.input_schema.text().len()).sum()
    };
    let system = tokens_of(settings.system.len());
    let own_tools = tokens_of(tool_bytes(|name| !is_mcp_tool(name)));
    let mcp_tools = tokens_of(tool_bytes(is_mcp_tool));
    let memory = tokens_of(settings.user_context.len());
    let fixed = system + own_tools + mcp_tools + memory;
    let total = report.as_ref().map_or(fixed, |report| report.tokens);
    let usable = report.as_ref().map_or(window, |report| report.usable_tokens);
    let used = total.min(usable);
    let category = |name: &str, tokens: u64| json!({ "name": name, "tokens": tokens, "color": "" });
    Ok(json!({
        "categories": [
            category("System prompt", system),
            category("System tools", own_tools),
            category("MCP tools", mcp_tools),
            category("Memory files", memory),
            category("Messages", total.saturating_sub(fixed)),
            category("Free space", usable.saturating_sub(used)),
        ],
        "totalTokens": used,
        "maxTokens": usable,
        "rawMaxTokens": window,
        "percentage": used.saturating_mul(100).checked_div(usable).unwrap_or(0),
        "gridRows": [],
        "model": settings.model.name,
        "memoryFiles": [],
        "mcpTools": mcp_tool_list(channel),
        "agents": initialize_response::agents(&channel.setup),
        "isAutoCompactEnabled": true,
        "autoCompactThreshold": report
            .map(|report| usable.saturating_mul(report.compacts_at_percent) / 100),
        "apiUsage": null,
    }))
}

fn is_mcp_tool(name: &str) -> bool {
    name.starts_with("mcp__")
}

fn mcp_tool_list(channel: &Channel) -> Vec<Value> {
    let tools = channel.setup.settings.tools.iter().filter(|tool| is_mcp_tool(&tool.name));
    tools
        .map(|tool| {
            let server = tool.name.split("__").nth(1).unwrap_or_default();
            json!({ "name": tool.name, "serverName": server, "tokens": 0 })
        })
        .collect()
}

/// What the conversation has cost.
pub(super) async fn get_session_cost(channel: &Channel) -> ControlAnswer {
    let now = load(channel).await?;
    #[expect(clippy::cast_precision_loss, reason = "a sum of money people can read")]
    let dollars = now.spent.usd_micros as f64 / MICROS_PER_USD;
    Ok(json!({ "total_cost_usd": dollars, "total_tokens": now.spent.tokens }))
}

/// The version of the protocol, and of this program.
pub(super) fn get_binary_version() -> ControlAnswer {
    Ok(json!({ "version": sdk::PROTOCOL_VERSION, "windlass_version": env!("CARGO_PKG_VERSION") }))
}

/// The models that a program can choose.
pub(super) fn list_models(channel: &Channel) -> ControlAnswer {
    Ok(json!({ "models": initialize_response::models(&channel.setup) }))
}

/// The commands and agents, which are read once when the session starts.
pub(super) fn list_commands(channel: &Channel) -> ControlAnswer {
    Ok(json!({
        "commands": initialize_response::commands(&channel.setup),
        "agents": initialize_response::agents(&channel.setup),
        "plugins": output::init_plugins(&channel.setup),
        "mcpServers": [],
        "skills": channel.setup.skills,
        "error_count": 0,
    }))
}

/// The state of the conversation; that of a new one is empty.
async fn load(channel: &Channel) -> Result<Conversation, String> {
    let lane = channel.session.lane().clone();
    let known = channel.setup.store.lane_info(lane).await.map_err(|error| error.to_string())?;
    match known {
        Some(_) => channel.session.load_conversation().await.map_err(|error| error.to_string()),
        None => Ok(Conversation::default()),
    }
}
