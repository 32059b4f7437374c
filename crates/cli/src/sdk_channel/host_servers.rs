//! MCP servers that run in the program at the other end of the channel.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass::mcp::{ManagedServer, McpServers};
use windlass::mcp::{McpConnection, McpConnector, McpError, ServerInbox, ServerSpec, ServerState};
use windlass::ports::BoxFuture;

use super::host_requests::{HostRequestError, HostRequests};

/// How long a server may take for its handshake.
const CONNECT_TIMEOUT_MS: u64 = 30_000;

/// How long a call may take unless `MCP_TOOL_TIMEOUT` says otherwise.
const DEFAULT_CALL_TIMEOUT_MS: u64 = 600_000;

/// The scope of servers that a program has, as the SDKs know it.
pub(super) const SDK_SCOPE: &str = "sdk";

/// Describes the servers of the program.
pub(super) fn server_specs(names: Vec<String>, host: &HostRequests) -> Vec<ServerSpec> {
    names.into_iter().map(|name| server_spec(name, host)).collect()
}

/// Describes a server of the program.
pub(super) fn server_spec(name: String, host: &HostRequests) -> ServerSpec {
    ServerSpec {
        connector: Arc::new(HostConnector { server: name.clone(), host: host.clone() }),
        roots: Vec::new(),
        startup_ms: CONNECT_TIMEOUT_MS,
        call_timeout_ms: call_timeout_ms(),
        scope: SDK_SCOPE.to_owned(),
        config: json!({"type": "sdk", "name": name}),
        name,
    }
}

/// Returns the states of the servers with their tools and errors.
pub(super) fn describe(servers: &McpServers) -> Vec<Value> {
    servers.list().iter().map(|server| describe_server(server)).collect()
}

fn describe_server(server: &ManagedServer) -> Value {
    let state = server.state();
    let mut described = json!({
        "name": server.name(),
        "status": state.name(),
        "scope": server.spec().scope,
        "config": server.spec().config,
    });
    let more = match &state {
        ServerState::Connected(connected) => {
            let tools = server.definitions();
            let tools = tools.iter().map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.plain_description(),
                    "annotations": {
                        "readOnly": tool.annotations.read_only_hint,
                    },
                })
            });
            vec![("serverInfo", connected.info().clone()), ("tools", Value::Array(tools.collect()))]
        }
        ServerState::Failed(error) => vec![("error", json!(error.to_string()))],
        ServerState::Pending | ServerState::Disabled => Vec::new(),
    };
    if let Some(fields) = described.as_object_mut() {
        fields.extend(more.into_iter().map(|(name, value)| (name.to_owned(), value)));
    }
    described
}

/// How long a call may take.
fn call_timeout_ms() -> u64 {
    let given = std::env::var("MCP_TOOL_TIMEOUT").ok().and_then(|text| text.parse().ok());
    given.filter(|ms| *ms > 0).unwrap_or(DEFAULT_CALL_TIMEOUT_MS)
}

/// Reaches one server of the program.
struct HostConnector {
    server: String,
    host: HostRequests,
}

impl McpConnector for HostConnector {
    fn connect(
        &self,
        _inbox: Arc<ServerInbox>,
    ) -> BoxFuture<'_, Result<Arc<dyn McpConnection>, McpError>> {
        let (server, host) = (self.server.clone(), self.host.clone());
        let connection: Arc<dyn McpConnection> = Arc::new(HostConnection { server, host });
        Box::pin(std::future::ready(Ok(connection)))
    }
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
            let limit = Duration::from_millis(call_timeout_ms() + CONNECT_TIMEOUT_MS);
            match self.host.send(request, limit).await {
                Ok(mut answer) => {
                    Ok(answer.get_mut("mcp_response").map(Value::take).unwrap_or_default())
                }
                Err(error @ HostRequestError::Refused(_)) => {
                    Err(McpError::Unreachable(error.to_string()))
                }
                Err(error) => Err(McpError::ConnectionLost(error.to_string())),
            }
        })
    }
}
