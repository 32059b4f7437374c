//! MCP servers that run in the program at the other end of the channel.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass::ToolRegistry;
use windlass::messages::McpServerStatus;
use windlass::ports::BoxFuture;
use windlass_mcp::{McpConnection, McpError, McpServer};

use super::host_requests::HostRequests;

/// How long a server may take for its handshake.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a call may take unless `MCP_TOOL_TIMEOUT` says otherwise.
const DEFAULT_CALL_TIMEOUT_MS: u64 = 600_000;

/// A server of the program: connected, or why not.
struct HostServer {
    name: String,
    state: Result<McpServer, McpError>,
}

/// The servers of the program.
#[derive(Default)]
pub(super) struct HostServers(Vec<HostServer>);

impl HostServers {
    /// Connects all servers at once. One that fails is reported, and its tools are missing.
    pub(super) async fn connect(names: Vec<String>, host: &HostRequests) -> Self {
        let tasks = names.into_iter().map(|name| {
            let connection = HostConnection { server: name.clone(), host: host.clone() };
            tokio::spawn(async move {
                let connected = McpServer::connect(name.clone(), Arc::new(connection));
                let state = tokio::time::timeout(CONNECT_TIMEOUT, connected).await;
                let late = |_| McpError::Unreachable("the handshake took too long".to_owned());
                HostServer { name, state: state.map_err(late).and_then(|state| state) }
            })
        });
        let mut servers = Vec::new();
        for task in tasks.collect::<Vec<_>>() {
            servers.extend(task.await);
        }
        Self(servers)
    }

    /// Adds servers that do not run in the program, which cannot be connected yet.
    pub(super) fn with_unsupported(mut self, names: Vec<String>) -> Self {
        let why = "servers outside the program are not supported; use one in the program";
        let refused = |name| HostServer { name, state: Err(McpError::Unreachable(why.to_owned())) };
        self.0.extend(names.into_iter().map(refused));
        self
    }

    /// Returns the tools of the servers that are connected.
    pub(super) fn tools(&self) -> ToolRegistry {
        let timeout_ms = call_timeout_ms();
        let connected = self.0.iter().filter_map(|server| server.state.as_ref().ok());
        let tools = connected.flat_map(|server| server.tools(timeout_ms));
        tools.fold(ToolRegistry::default(), ToolRegistry::with)
    }

    /// Returns the states of the servers for the init frame.
    pub(super) fn statuses(&self) -> Vec<McpServerStatus> {
        let status = |server: &HostServer| McpServerStatus {
            name: server.name.clone(),
            status: server.status().to_owned(),
        };
        self.0.iter().map(status).collect()
    }

    /// Returns the states of the servers with their tools and errors.
    pub(super) fn describe(&self) -> Vec<Value> {
        self.0.iter().map(HostServer::describe).collect()
    }

    /// Returns whether there is a server of this name.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|server| server.name == name)
    }
}

impl HostServer {
    fn status(&self) -> &'static str {
        if self.state.is_ok() { "connected" } else { "failed" }
    }

    fn describe(&self) -> Value {
        let (name, status) = (&self.name, self.status());
        match &self.state {
            Ok(server) => {
                let tools = server.definitions().iter();
                let tools: Vec<Value> = tools
                    .map(|tool| json!({"name": tool.name, "description": tool.description}))
                    .collect();
                let info = server.info();
                json!({"name": name, "status": status, "serverInfo": info, "tools": tools})
            }
            Err(error) => json!({"name": name, "status": status, "error": error.to_string()}),
        }
    }
}

/// How long a call may take.
fn call_timeout_ms() -> u64 {
    let given = std::env::var("MCP_TOOL_TIMEOUT").ok().and_then(|text| text.parse().ok());
    given.filter(|ms| *ms > 0).unwrap_or(DEFAULT_CALL_TIMEOUT_MS)
}

/// The connection to one server of the program.
struct HostConnection {
    server: String,
    host: HostRequests,
}

impl McpConnection for HostConnection {
    fn exchange(&self, message: Value) -> BoxFuture<'_, Result<Value, McpError>> {
        Box::pin(async move {
            let request =
                json!({"subtype": "mcp_message", "server_name": self.server, "message": message});
            // The runtime ends the call itself when its time is up.
            let limit = Duration::from_millis(call_timeout_ms()) + CONNECT_TIMEOUT;
            match self.host.send(request, limit).await {
                Ok(mut answer) => {
                    Ok(answer.get_mut("mcp_response").map(Value::take).unwrap_or_default())
                }
                Err(error) => Err(McpError::Unreachable(error.to_string())),
            }
        })
    }
}
