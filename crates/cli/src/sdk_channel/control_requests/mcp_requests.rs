//! Requests about MCP servers. What they change about tools holds from the next turn on.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use windlass::SystemClock;
use windlass::mcp::{McpServices, ServerSpec, ServerState, TransportConfig};
use windlass::ports::Clock;

use super::super::channel_loop::Channel;
use super::super::host_servers::{self, SDK_SCOPE};
use super::super::incoming::ControlRequest;
use super::ControlAnswer;
use crate::config::mcp::server_list::parse_servers;
use crate::config::mcp::{ConfiguredServer, ServerScope};
use crate::setup::mcp_servers::spec_of;

/// Connects a server anew, or switches it on or off.
pub(super) async fn change_server(
    channel: &mut Channel,
    request: &ControlRequest,
) -> ControlAnswer {
    let name = request.fields.get("serverName").and_then(Value::as_str).unwrap_or_default();
    let Some(server) = channel.setup.mcp.find(name) else {
        return Err(format!("Server not found: {name}"));
    };
    match request.fields.get("enabled").and_then(Value::as_bool) {
        Some(is_enabled) => server.set_enabled(is_enabled).await,
        None => server.reconnect().await,
    }
    match server.state() {
        ServerState::Failed(error) => Err(format!("{name}: {error}")),
        ServerState::Connected(_) | ServerState::Pending | ServerState::Disabled => Ok(json!({})),
    }
}

/// Replaces the servers that the program has, in its own process or set by an earlier request. Those
/// of the configuration stay.
pub(super) async fn set_servers(channel: &mut Channel, request: &ControlRequest) -> ControlAnswer {
    let Some(Value::Object(table)) = request.fields.get("servers") else {
        return Err("`servers` must be an object".to_owned());
    };
    let removed = remove_servers(channel, table);
    let mut errors = Map::new();
    let mut added = Vec::new();
    for server in parse_servers(table, ServerScope::Dynamic) {
        if channel.setup.mcp.find(&server.name).is_some() {
            continue;
        }
        match new_server(channel, &server) {
            Ok(spec) => {
                channel.setup.mcp.add(spec);
                channel.set_servers.insert(server.name.clone());
                added.push(server.name);
            }
            Err(problem) => _ = errors.insert(server.name, Value::from(problem)),
        }
    }
    for name in &added {
        let Some(server) = channel.setup.mcp.find(name) else { continue };
        server.wait_until_settled().await;
        if let ServerState::Failed(error) = server.state() {
            errors.insert(name.clone(), Value::from(error.to_string()));
        }
    }
    Ok(json!({ "added": added, "removed": removed, "errors": errors }))
}

/// Removes the servers that the program wants no more, or wants to be reached in another way.
fn remove_servers(channel: &mut Channel, wanted: &Map<String, Value>) -> Vec<String> {
    let is_kept = |spec: &ServerSpec| match wanted.get(&spec.name) {
        Some(config) => *config == spec.config || (is_hosted(config) && is_hosted(&spec.config)),
        None => false,
    };
    let servers = channel.setup.mcp.list();
    let own = servers
        .iter()
        .map(|server| server.spec())
        .filter(|spec| spec.scope == SDK_SCOPE || channel.set_servers.contains(&spec.name));
    let removed: Vec<String> =
        own.filter(|spec| !is_kept(spec)).map(|spec| spec.name.clone()).collect();
    for name in &removed {
        channel.setup.mcp.remove(name);
        channel.set_servers.remove(name);
    }
    removed
}

fn is_hosted(config: &Value) -> bool {
    config.get("type").and_then(Value::as_str) == Some(SDK_SCOPE)
}

fn new_server(channel: &Channel, server: &ConfiguredServer) -> Result<ServerSpec, String> {
    let config = server.config.as_ref().map_err(Clone::clone)?;
    if config.transport == TransportConfig::Sdk {
        return Ok(host_servers::server_spec(server.name.clone(), channel.approvals.host()));
    }
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let services = McpServices::new(clock, Arc::clone(channel.setup.workplace.launcher()));
    let spec = spec_of(server, &services, &channel.setup.workspace);
    spec.unwrap_or_else(|| Err("the server has no way to be reached".to_owned()))
}
