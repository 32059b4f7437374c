//! The first message: where it works, with which model and tools, and what else there is.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass::tools::LIKE_THE_PARENT;

use crate::prompt::slash;
use crate::setup::Setup;
use crate::toolset;

/// The level of the SDKs' protocol that the messages have.
const PROTOCOL: &str = "2.1.265";

/// The first message, without the fields every message has.
pub(super) fn message(setup: &Setup) -> Value {
    let settings = &setup.settings;
    let tools: Vec<Arc<str>> = settings.tools.iter().map(|tool| listed(&tool.name)).collect();
    json!({
        "type": "system",
        "subtype": "init",
        "cwd": setup.workspace.display().to_string(),
        "tools": tools,
        "mcp_servers": [],
        "model": settings.model.name,
        "permissionMode": settings.rules.mode,
        "slash_commands": slash::names(&setup.customs).collect::<Vec<_>>(),
        "apiKeySource": if std::env::var_os("ANTHROPIC_API_KEY").is_some() {
            "ANTHROPIC_API_KEY"
        } else {
            "none"
        },
        "claude_code_version": PROTOCOL,
        "windlass_version": env!("CARGO_PKG_VERSION"),
        "output_style": "default",
        "skills": [],
        "plugins": [],
        "agents": agents(setup),
    })
}

/// A tool by the name that the SDKs list it under.
fn listed(tool: &Arc<str>) -> Arc<str> {
    if **tool == *toolset::AGENT { Arc::from("Task") } else { tool.clone() }
}

/// The agents that tasks may name.
fn agents(setup: &Setup) -> Vec<&str> {
    let hands_out = setup.settings.tools.iter().any(|tool| *tool.name == *toolset::AGENT);
    let like_the_parent = hands_out.then_some(LIKE_THE_PARENT);
    like_the_parent.into_iter().chain(setup.agents.iter().map(String::as_str)).collect()
}
