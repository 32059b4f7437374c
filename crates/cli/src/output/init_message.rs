//! The init message: workspace, model, tools, and what else is available.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass::tools::GENERAL_PURPOSE_AGENT;

use crate::prompt::slash_command;
use crate::setup::RunSetup;
use crate::toolset;

/// The version of the SDK protocol that the messages follow.
const PROTOCOL_VERSION: &str = "2.1.265";

/// Builds the init message, without the fields of every message.
pub(super) fn build_init_message(setup: &RunSetup) -> Value {
    let settings = &setup.settings;
    let tools: Vec<Arc<str>> =
        settings.tools.iter().map(|tool| sdk_tool_name(&tool.name)).collect();
    json!({
        "type": "system",
        "subtype": "init",
        "cwd": setup.workspace.display().to_string(),
        "tools": tools,
        "mcp_servers": [],
        "model": settings.model.name,
        "permissionMode": settings.rules.mode,
        "slash_commands": slash_command::command_names(&setup.custom_commands).collect::<Vec<_>>(),
        "apiKeySource": if std::env::var_os("ANTHROPIC_API_KEY").is_some() {
            "ANTHROPIC_API_KEY"
        } else {
            "none"
        },
        "claude_code_version": PROTOCOL_VERSION,
        "windlass_version": env!("CARGO_PKG_VERSION"),
        "output_style": "default",
        "skills": [],
        "plugins": [],
        "agents": agent_names(setup),
    })
}

/// The name under which SDKs list a tool.
fn sdk_tool_name(tool: &Arc<str>) -> Arc<str> {
    if **tool == *toolset::AGENT_TOOL { Arc::from("Task") } else { tool.clone() }
}

/// The sub-agents that tasks may name.
fn agent_names(setup: &RunSetup) -> Vec<&str> {
    let hands_out = setup.settings.tools.iter().any(|tool| *tool.name == *toolset::AGENT_TOOL);
    let like_the_parent = hands_out.then_some(GENERAL_PURPOSE_AGENT);
    like_the_parent.into_iter().chain(setup.agents.iter().map(String::as_str)).collect()
}
