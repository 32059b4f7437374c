//! MCP servers that an editor is configured with, as if they were given on the command line.

use serde_json::{Map, Value, json};
use windlass_acp::McpServerConfig;

/// Returns the configuration of the servers that can be connected, if there are any, and the names
/// of the others.
pub(super) fn split_servers(servers: &[McpServerConfig]) -> (Option<String>, Vec<&str>) {
    let mut known = Map::new();
    let mut missing = Vec::new();
    for server in servers {
        match to_config(server) {
            Some(config) => _ = known.insert(server.name().to_owned(), config),
            None => missing.push(server.name()),
        }
    }
    let config = (!known.is_empty()).then(|| json!({ "mcpServers": known }).to_string());
    (config, missing)
}

/// A server as configuration files have it; `None` if it has a transport that is not spoken, or a
/// name that no tool can have.
fn to_config(server: &McpServerConfig) -> Option<Value> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if server.name().is_empty() || !server.name().chars().all(fits) {
        return None;
    }
    match server {
        McpServerConfig::Stdio { command, args, env, .. } => {
            Some(json!({ "command": command, "args": args, "env": to_object(env) }))
        }
        McpServerConfig::Remote { transport: "http", url, headers, .. } => {
            Some(json!({ "type": "http", "url": url, "headers": to_object(headers) }))
        }
        McpServerConfig::Remote { .. } => None,
    }
}

fn to_object(pairs: &[(String, String)]) -> Value {
    pairs.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect()
}
