//! A tool of an MCP server behind the runtime's port.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::call::call_facts::{CallFacts, Interruptibility, Repeatability};
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::ToolSpec;
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use crate::connection::McpError;
use crate::managed_server::ManagedServer;
use crate::result_content::outcome_of_result;
use crate::server::McpServer;
use crate::tool_definition::{ToolAnnotations, ToolDefinition};
use crate::tool_name::qualified_tool_name;

/// The name under which a server finds the key that is equal for every attempt of one call.
const IDEMPOTENCY_KEY: &str = "windlass/idempotencyKey";

/// A tool of an MCP server.
pub struct McpTool {
    spec: ToolSpec,
    /// The name of the tool on its server.
    remote_name: String,
    /// The hash of the definition that is offered.
    definition_hash: String,
    annotations: ToolAnnotations,
    server: Arc<ManagedServer>,
}

impl McpTool {
    pub(crate) fn new(server: Arc<ManagedServer>, definition: &ToolDefinition) -> Self {
        let spec = ToolSpec {
            name: Arc::from(qualified_tool_name(server.name(), &definition.name)),
            description: Arc::from(definition.plain_description()),
            input_schema: RawJson::encode(&definition.schema_or_any()),
        };
        let (remote_name, annotations) = (definition.name.clone(), definition.annotations);
        Self { spec, remote_name, definition_hash: definition.hash(), annotations, server }
    }

    /// Returns the name that the model calls the tool by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.spec.name
    }
}

impl Tool for McpTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    /// A server's word grants no permission. A call that claims to read only may run beside others,
    /// and one that claims that a repetition changes nothing may be repeated; both still need
    /// approval.
    fn assess(&self, _input: &RawJson) -> CallFacts {
        let ToolAnnotations { read_only_hint, idempotent_hint } = self.annotations;
        let repeat = match idempotent_hint {
            true => Repeatability::Repeatable,
            false => Repeatability::OnceOnly,
        };
        let touches = match read_only_hint {
            true => TouchedResources::Writes(Vec::new()),
            false => TouchedResources::Exclusive,
        };
        let interrupt = match repeat {
            Repeatability::Repeatable => Interruptibility::Interruptible,
            Repeatability::OnceOnly => Interruptibility::RunsToEnd,
        };
        let timeout_ms = self.server.call_timeout_ms();
        CallFacts { touches, repeat, interrupt, timeout_ms, ..CallFacts::default() }
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(async move {
            match self.call(&context, input.read().unwrap_or_default()).await {
                Ok(result) => outcome_of_result(&result),
                Err(error) => ToolOutcome::Failed(tool_error(self.server.name(), &error)),
            }
        })
    }

    fn needs_workspace(&self) -> bool {
        false
    }
}

impl McpTool {
    /// Returns the connection on which the tool is still what was offered: a server may describe its
    /// tools differently once it is connected.
    async fn checked_connection(
        &self,
        connect: impl Future<Output = Result<Arc<McpServer>, McpError>>,
    ) -> Result<Arc<McpServer>, McpError> {
        let connected = connect.await?;
        self.server.wait_until_tools_are_known().await;
        let is_offered = self.server.offers(&self.remote_name, &self.definition_hash);
        is_offered.then_some(connected).ok_or(McpError::ToolChanged)
    }

    /// Calls the tool. A session that the server has forgotten is opened anew, because the server
    /// has not looked at the call; nothing else is repeated.
    async fn call(&self, context: &CallContext, arguments: Value) -> Result<Value, McpError> {
        let call = json!({
            "name": self.remote_name,
            "arguments": arguments,
            "_meta": {IDEMPOTENCY_KEY: &*context.idempotency_key},
        });
        let connected = self.checked_connection(self.server.connected()).await?;
        let request = |server: &McpServer| {
            let (client, call) = (Arc::clone(server.client()), call.clone());
            let heartbeat = context.heartbeat.clone();
            async move { client.request_with_progress("tools/call", call, heartbeat).await }
        };
        match request(&connected).await {
            Err(McpError::SessionExpired) => {
                let reconnected = self.server.connected_after(&connected);
                let reconnected = self.checked_connection(reconnected).await?;
                request(&reconnected).await
            }
            answered => answered,
        }
    }
}

pub(crate) fn tool_error(server: &str, error: &McpError) -> ToolError {
    let (code, hint) = match error {
        McpError::ConnectionLost(_) => (
            "mcp_connection_lost",
            "its effects are unknown: check what it did before calling it again",
        ),
        McpError::Unreachable(_) | McpError::SessionExpired => {
            ("mcp_unreachable", "it had no effect; do without the tool")
        }
        McpError::Misconfigured(_) => ("mcp_misconfigured", "do without the tool"),
        McpError::NeedsLogin(_) => {
            ("mcp_needs_login", "do without the tool; the user can run `windlass mcp login`")
        }
        McpError::ToolChanged => (
            "mcp_tool_changed",
            "it had no effect; use the tools that are offered now. If it is withheld, the user can \
             look at the change and run `windlass mcp reset-approvals`",
        ),
        McpError::Refused { .. } => ("mcp_error", "change the input or do without the tool"),
        McpError::Invalid(_) => ("mcp_protocol", "do without the tool"),
    };
    ToolError::new(code, &format!("MCP server {server}: {error}"), hint)
}
