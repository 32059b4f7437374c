//! Requests about MCP servers.

use serde_json::{Value, json};
use windlass::mcp::ServerState;

use super::super::channel_loop::Channel;
use super::super::incoming::ControlRequest;
use super::ControlAnswer;

/// Connects a server anew, or switches it on or off.
pub(super) async fn change_server(channel: &Channel, request: &ControlRequest) -> ControlAnswer {
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
