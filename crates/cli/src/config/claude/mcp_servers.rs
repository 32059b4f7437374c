//! The commands of `.mcp.json`. Windlass starts no MCP server yet; what they would run is
//! protected.

use std::path::Path;

use serde_json::Value;

use crate::config::claude::config_file::{ConfigFile, FileOwner};

/// Maximum size of the file in bytes.
const FILE_BYTES: u64 = 1 << 20;

/// Maximum number of servers that are read.
const MOST_SERVERS: usize = 100;

/// The command line of each server that starts a program, from the folder it names.
pub(crate) fn commands(workspace: &Path) -> Vec<String> {
    let file = ConfigFile::new(workspace, ".mcp.json", FileOwner::Project);
    let Ok(Some(text)) = file.read(FILE_BYTES) else { return Vec::new() };
    let table: Value = serde_json::from_str(&text).unwrap_or_default();
    let servers = table.get("mcpServers").and_then(Value::as_object);
    let servers = servers.into_iter().flat_map(|servers| servers.values());
    servers.take(MOST_SERVERS).filter_map(command_line).collect()
}

fn command_line(server: &Value) -> Option<String> {
    let text = |name: &str| server.get(name).and_then(Value::as_str);
    let args = server.get("args").and_then(Value::as_array).into_iter().flatten();
    let words = text("command").into_iter().chain(args.filter_map(Value::as_str));
    let line = words.map(quoted).collect::<Vec<_>>().join(" ");
    let folder = text("cwd").map(|folder| format!("cd {} && ", quoted(folder)));
    (!line.is_empty()).then(|| folder.unwrap_or_default() + &line)
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
