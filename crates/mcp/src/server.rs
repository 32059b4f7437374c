//! One MCP server: the handshake, and the list of its tools.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::client::McpClient;
use crate::connection::{McpConnection, McpError};
use crate::mcp_tool::McpTool;
use crate::tool_definition::ToolDefinition;

/// The version of the protocol that we speak.
pub(crate) const PROTOCOL_VERSION: &str = "2025-11-25";

/// Maximum number of pages of a tool list.
const MAX_PAGES: usize = 100;

/// Maximum number of tools of one server.
const MAX_TOOLS: usize = 1_000;

/// An MCP server that is connected.
pub struct McpServer {
    name: String,
    info: Value,
    tools: Vec<ToolDefinition>,
    client: Arc<McpClient>,
}

impl McpServer {
    /// Does the handshake and reads the tools of the server.
    ///
    /// # Errors
    ///
    /// Returns an [`McpError`] if the server does not answer, refuses, or breaks the protocol.
    pub async fn connect(
        name: impl Into<String>,
        connection: Arc<dyn McpConnection>,
    ) -> Result<Self, McpError> {
        let client = McpClient::new(connection);
        let hello = json!({
            "protocolVersion": PROTOCOL_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "windlass", "version": env!("CARGO_PKG_VERSION")},
        });
        let mut answer = client.request("initialize", hello).await?;
        let info = answer.get_mut("serverInfo").map(Value::take).unwrap_or_default();
        client.notify("notifications/initialized").await?;
        let tools = list_tools(&client).await?;
        Ok(Self { name: name.into(), info, tools, client: Arc::new(client) })
    }

    /// Returns the name that the configuration gives the server.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what the server says about itself.
    #[must_use]
    pub fn info(&self) -> &Value {
        &self.info
    }

    /// Returns the tools as the server describes them.
    #[must_use]
    pub fn definitions(&self) -> &[ToolDefinition] {
        &self.tools
    }

    /// Returns the tools for the runtime. Of tools whose names become equal, the first counts.
    pub fn tools(&self, timeout_ms: u64) -> impl Iterator<Item = McpTool> {
        let mut seen = HashSet::new();
        let all = self.tools.iter().map(move |definition| {
            McpTool::new(&self.name, definition, Arc::clone(&self.client), timeout_ms)
        });
        all.filter(move |tool| seen.insert(tool.name().to_owned()))
    }
}

async fn list_tools(client: &McpClient) -> Result<Vec<ToolDefinition>, McpError> {
    let mut tools = Vec::new();
    let mut cursor: Option<Value> = None;
    for _ in 0..MAX_PAGES {
        let params = cursor.take().map_or_else(|| json!({}), |next| json!({"cursor": next}));
        let mut page = client.request("tools/list", params).await?;
        let listed = page.get_mut("tools").map(Value::take).unwrap_or_default();
        let listed: Vec<ToolDefinition> = serde_json::from_value(listed)
            .map_err(|error| McpError::Invalid(format!("tools/list: {error}")))?;
        tools.extend(listed);
        if tools.len() > MAX_TOOLS {
            return Err(McpError::Invalid(format!("it has more than {MAX_TOOLS} tools")));
        }
        cursor = page.get_mut("nextCursor").map(Value::take).filter(Value::is_string);
        if cursor.is_none() {
            return Ok(tools);
        }
    }
    Err(McpError::Invalid(format!("its tool list has more than {MAX_PAGES} pages")))
}
