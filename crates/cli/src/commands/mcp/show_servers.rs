//! Connects to servers and shows what they offer.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use serde_json::{Value, json};
use windlass::SystemClock;
use windlass::mcp::{ManagedServer, ServerState};
use windlass::ports::Clock;

use super::{all_sources, trust_here};
use crate::args::{McpArgs, StoreArgs};
use crate::config::mcp::server_list;
use crate::config::trust::folder_trust::{FolderTrust, TrustState};
use crate::setup::{self, mcp_servers};
use crate::{messages, terminal};

/// Lists every server.
pub(super) async fn list(mcp: &McpArgs, as_json: bool) -> anyhow::Result<ExitCode> {
    let folder = trust_here()?;
    let servers = connect(mcp, &folder, None).await?;
    let untrusted = untrusted_servers(mcp, &folder)?;
    if as_json {
        let mut all: Vec<Value> = servers.iter().map(to_json).collect();
        all.extend(
            untrusted
                .iter()
                .map(|name| json!({"name": name, "scope": "project", "status": "untrusted"})),
        );
        terminal::print_line(&serde_json::to_string(&json!({ "servers": all }))?);
        return Ok(ExitCode::SUCCESS);
    }
    if servers.is_empty() && untrusted.is_empty() {
        terminal::print_line(messages::NO_MCP_SERVERS);
    }
    for server in &servers {
        print_safe(&messages::mcp_server_line(server));
    }
    for name in &untrusted {
        print_safe(&messages::mcp_server_untrusted(name));
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows one server.
pub(super) async fn get(name: &str, mcp: &McpArgs, as_json: bool) -> anyhow::Result<ExitCode> {
    let folder = trust_here()?;
    if untrusted_servers(mcp, &folder)?.iter().any(|untrusted| untrusted == name) {
        print_safe(&messages::mcp_server_untrusted(name));
        return Ok(ExitCode::SUCCESS);
    }
    let servers = connect(mcp, &folder, Some(name)).await?;
    let Some(server) = servers.first() else { bail!(messages::mcp_server_unknown(name)) };
    if as_json {
        terminal::print_line(&to_json(server).to_string());
        return Ok(ExitCode::SUCCESS);
    }
    print_safe(&messages::mcp_server_line(server));
    for line in messages::mcp_server_details(server) {
        print_safe(&line);
    }
    Ok(ExitCode::SUCCESS)
}

/// Connects the servers, or the one of this name.
async fn connect(
    mcp: &McpArgs,
    folder: &FolderTrust,
    name: Option<&str>,
) -> anyhow::Result<Vec<Arc<ManagedServer>>> {
    let mut configured = server_list::configured_servers((mcp, &all_sources()), folder)?;
    configured.retain(|server| name.is_none_or(|name| server.name == name));
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let launcher = setup::launcher_here(&StoreArgs { store: None })?;
    let servers =
        mcp_servers::start_servers(&configured, Vec::new(), &folder.folder, (&clock, &launcher));
    mcp_servers::wait_until_settled(&servers).await;
    Ok(servers.list())
}

/// The servers that the folder would have if it were trusted.
fn untrusted_servers(mcp: &McpArgs, folder: &FolderTrust) -> anyhow::Result<Vec<String>> {
    if folder.trust == TrustState::Trusted || mcp.strict_mcp_config {
        return Ok(Vec::new());
    }
    Ok(server_list::project_servers(&folder.folder)?.into_iter().map(|(name, _)| name).collect())
}

fn to_json(server: &Arc<ManagedServer>) -> Value {
    let state = server.state();
    let error = match &state {
        ServerState::Failed(error) => Some(error.to_string()),
        ServerState::Connected(_) | ServerState::Pending | ServerState::Disabled => None,
    };
    let tools = server.definitions().into_iter();
    let tools: Vec<Value> = tools
        .map(|tool| {
            json!({
                "name": windlass::mcp::qualified_tool_name(server.name(), &tool.name),
                "description": tool.plain_description(),
            })
        })
        .collect();
    json!({
        "name": server.name(),
        "scope": server.spec().scope,
        "status": state.name(),
        "config": server.spec().config,
        "error": error,
        "tools": tools,
        "prompts": server.prompts().iter().map(|it| server.prompt_command(it)).collect::<Vec<_>>(),
        "withheld": server.withheld(),
        "log": server.log_lines(),
    })
}

fn print_safe(text: &str) {
    terminal::print_line(&terminal::sanitize_text(text));
}
