//! One MCP server: the handshake, and the list of its tools.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::client::McpClient;
use crate::connection::{McpConnection, McpError};
use crate::paged_list::read_list;
use crate::prompts::{MAX_PROMPTS, PromptDefinition};
use crate::server_inbox::ServerInbox;
use crate::tool_definition::ToolDefinition;

/// The version of the protocol that we speak.
pub(crate) const PROTOCOL_VERSION: &str = "2025-11-25";

/// Maximum number of tools of one server.
const MAX_TOOLS: usize = 1_000;

/// The versions of the protocol that we understand.
const KNOWN_VERSIONS: [&str; 4] = [PROTOCOL_VERSION, "2025-06-18", "2025-03-26", "2024-11-05"];

/// An MCP server that is connected.
pub struct McpServer {
    name: String,
    info: Value,
    instructions: Option<String>,
    capabilities: Value,
    tools: Vec<ToolDefinition>,
    prompts: Mutex<Vec<PromptDefinition>>,
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
        inbox: Arc<ServerInbox>,
    ) -> Result<Self, McpError> {
        let client = McpClient::new(connection, inbox);
        let hello = json!({
            "protocolVersion": PROTOCOL_VERSION,
            "capabilities": client.inbox().capabilities(),
            "clientInfo": {"name": "windlass", "version": env!("CARGO_PKG_VERSION")},
        });
        let mut answer = client.request("initialize", hello).await?;
        let version = answer.get("protocolVersion").and_then(Value::as_str);
        let version = version.unwrap_or(PROTOCOL_VERSION);
        if !KNOWN_VERSIONS.contains(&version) {
            let version = crate::plain_text::plain_text(version, 40);
            let known = KNOWN_VERSIONS.join(", ");
            return Err(McpError::Misconfigured(format!(
                "it speaks version `{version}` of the protocol; known are {known}"
            )));
        }
        client.connection().on_initialized(version);
        let mut take = |name: &str| answer.get_mut(name).map(Value::take).unwrap_or_default();
        let (info, capabilities) = (take("serverInfo"), take("capabilities"));
        let instructions = take("instructions").as_str().map(str::to_owned);
        client.notify("notifications/initialized").await?;
        let mut server = Self {
            name: name.into(),
            info,
            instructions,
            capabilities,
            tools: Vec::new(),
            prompts: Mutex::default(),
            client: Arc::new(client),
        };
        server.tools = server.read_tools().await?;
        server.read_prompts().await;
        Ok(server)
    }

    /// Reads the prompts of the server as they are now. Tools work without them.
    pub(crate) async fn read_prompts(&self) {
        if self.has_capability("prompts") {
            let listed = read_list(&self.client, ("prompts/list", "prompts"), MAX_PROMPTS).await;
            *self.prompts.lock() = listed.unwrap_or_default();
        }
    }

    /// Reads the tools of the server as they are now.
    ///
    /// # Errors
    ///
    /// Returns an [`McpError`] like [`McpServer::connect`].
    pub async fn read_tools(&self) -> Result<Vec<ToolDefinition>, McpError> {
        match read_list(&self.client, ("tools/list", "tools"), MAX_TOOLS).await {
            // A server without tools does not know the method.
            Err(McpError::Refused { code: METHOD_NOT_FOUND, .. })
                if !self.has_capability("tools") =>
            {
                Ok(Vec::new())
            }
            other => other,
        }
    }

    /// Returns whether the server says that it offers this.
    #[must_use]
    pub fn has_capability(&self, name: &str) -> bool {
        self.capabilities.get(name).is_some_and(Value::is_object)
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

    /// Returns what the server says about how to use it.
    #[must_use]
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// Returns the tools as the server described them when it was connected.
    #[must_use]
    pub fn definitions(&self) -> &[ToolDefinition] {
        &self.tools
    }

    /// Returns the prompts that the server offers.
    #[must_use]
    pub fn prompts(&self) -> Vec<PromptDefinition> {
        self.prompts.lock().clone()
    }

    pub(crate) fn client(&self) -> &Arc<McpClient> {
        &self.client
    }
}

/// JSON-RPC: there is no such method.
const METHOD_NOT_FOUND: i64 = -32601;
