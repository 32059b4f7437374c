//! The init message: workspace, model, tools, and what else is available.

use std::sync::Arc;

use serde_json::{Map, Value};
use windlass::messages::{InitInfo, PluginInfo};
use windlass::tools::GENERAL_PURPOSE_AGENT;

use crate::config::plugins::Plugin;
use crate::prompt::prompt_content;
use crate::sdk::PROTOCOL_VERSION;
use crate::setup::{RunSetup, mcp_servers};
use crate::toolset;

/// With what a run works.
pub(crate) fn init_info(setup: &RunSetup) -> InitInfo {
    let settings = &setup.settings;
    let has_key = std::env::var_os("ANTHROPIC_API_KEY").is_some();
    let mode = serde_json::to_value(settings.rules.mode).ok();
    InitInfo {
        cwd: setup.workspace.display().to_string(),
        tools: tool_names(setup),
        model: settings.model.name.to_string(),
        permission_mode: mode.and_then(|mode| Some(mode.as_str()?.to_owned())).unwrap_or_default(),
        slash_commands: slash_commands(setup),
        api_key_source: if has_key { "ANTHROPIC_API_KEY" } else { "none" }.to_owned(),
        claude_code_version: PROTOCOL_VERSION.to_owned(),
        windlass_version: env!("CARGO_PKG_VERSION").to_owned(),
        output_style: setup.output_style.to_string(),
        agents: agent_names(setup),
        skills: setup.skills.clone(),
        mcp_servers: mcp_servers::statuses(&setup.mcp),
        plugins: plugins(setup),
        more: further_fields(setup),
    }
}

/// The names of the offered tools. Those of MCP servers come and go while the process runs.
fn tool_names(setup: &RunSetup) -> Vec<String> {
    let offered = toolset::without_denied(&setup.mcp.tools(), &setup.settings.rules);
    let own = setup.settings.tools.iter().map(|tool| &tool.name);
    let own = own.filter(|name| !name.starts_with("mcp__"));
    let offered = offered.specs();
    own.chain(offered.iter().map(|tool| &tool.name)).map(|name| sdk_tool_name(name)).collect()
}

/// The names of the commands that a prompt can begin with, prompts of MCP servers among them.
fn slash_commands(setup: &RunSetup) -> Vec<String> {
    let mut names = setup.slash_commands.clone();
    if !names.is_empty() {
        names.extend(prompt_content::server_prompt_names(&setup.mcp));
    }
    names
}

/// The plugins in force.
pub(crate) fn plugins(setup: &RunSetup) -> Vec<PluginInfo> {
    let info = |plugin: &Arc<Plugin>| PluginInfo {
        name: plugin.name.clone(),
        path: plugin.root.display().to_string(),
    };
    setup.plugins.iter().map(info).collect()
}

/// The output styles that can be chosen, and what was ignored of an untrusted folder.
fn further_fields(setup: &RunSetup) -> Map<String, Value> {
    let styles = serde_json::to_value(&setup.output_styles).unwrap_or_default();
    let mut fields = Map::from_iter([("available_output_styles".to_owned(), styles)]);
    fields.insert("sandbox".to_owned(), Value::from(setup.sandbox.level.name()));
    if let Some(ignored) = &setup.ignored_settings {
        let ignored = serde_json::to_value(ignored).unwrap_or_default();
        fields.insert("ignored_settings".to_owned(), ignored);
    }
    fields
}

/// The name under which SDKs list a tool.
fn sdk_tool_name(tool: &str) -> String {
    if tool == toolset::AGENT_TOOL { "Task".to_owned() } else { tool.to_owned() }
}

/// The sub-agents that tasks may name.
fn agent_names(setup: &RunSetup) -> Vec<String> {
    let hands_out = setup.settings.tools.iter().any(|tool| *tool.name == *toolset::AGENT_TOOL);
    let like_the_parent = hands_out.then(|| GENERAL_PURPOSE_AGENT.to_owned());
    like_the_parent.into_iter().chain(setup.agents.names.iter().cloned()).collect()
}
