//! An MCP server whose tool adds lines to the ledger. It runs below the process under test, and its
//! calls are interrupted with it.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::plan::conversation_plan::PlannedEffect;
use crate::work_folder::ConversationFolder;

/// The tool, as the model calls it.
pub(crate) const TOOL: &str = "mcp__ledger__append";

/// The server. Its first argument is the ledger. It writes one short line at once: the ledger has no
/// partial lines.
const SERVER: &str = r#"#!/bin/sh
reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
field() { printf '%s' "$line" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/^[^i]*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*) reply '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"ledger","version":"1"}}' ;;
    *'"method":"tools/list"'*) reply '{"tools":[{"name":"append","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*)
      sleep "$(field before)"
      printf '%s\n' "$(field line)" >> "$1"
      sleep "$(field after)"
      reply '{"content":[{"type":"text","text":"appended"}]}' ;;
  esac
done
"#;

/// The input of the call that has this effect.
pub(crate) fn input(effect: &PlannedEffect) -> Value {
    let seconds = |ms: u64| format!("{}.{:03}", ms / 1_000, ms % 1_000);
    json!({"line": effect.line, "before": seconds(effect.before_ms), "after": seconds(effect.after_ms)})
}

/// Writes the server and its configuration, and returns the file of the configuration. They are
/// written once: another process may be reading them.
pub(crate) fn write_config(place: &ConversationFolder) -> Result<PathBuf> {
    let (server, config) = (place.folder.join("ledger.sh"), place.folder.join("mcp.json"));
    if !config.exists() {
        fs::write(&server, SERVER).with_context(|| format!("the server {}", server.display()))?;
        let ledger = json!({"command": "/bin/sh", "args": [server, place.ledger.path()]});
        let text = json!({"mcpServers": {"ledger": ledger}}).to_string();
        fs::write(&config, text).with_context(|| format!("the file {}", config.display()))?;
    }
    Ok(config)
}
