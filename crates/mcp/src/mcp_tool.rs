//! A tool of an MCP server behind the runtime's port.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::call::call_facts::{CallFacts, Interruptibility, Repeatability};
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::ToolSpec;
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use crate::client::McpClient;
use crate::connection::McpError;
use crate::result_content::outcome_of_result;
use crate::tool_definition::{ToolAnnotations, ToolDefinition};
use crate::tool_name::qualified_tool_name;

/// The name under which a server finds the key that is equal for every attempt of one call.
const IDEMPOTENCY_KEY: &str = "windlass/idempotencyKey";

/// A tool of an MCP server.
pub struct McpTool {
    spec: ToolSpec,
    /// The name of the tool on its server.
    remote_name: String,
    annotations: ToolAnnotations,
    client: Arc<McpClient>,
    timeout_ms: u64,
}

impl McpTool {
    pub(crate) fn new(
        server: &str,
        definition: &ToolDefinition,
        client: Arc<McpClient>,
        timeout_ms: u64,
    ) -> Self {
        let spec = ToolSpec {
            name: Arc::from(qualified_tool_name(server, &definition.name)),
            description: Arc::from(definition.plain_description()),
            input_schema: RawJson::encode(&definition.schema_or_any()),
        };
        let (remote_name, annotations) = (definition.name.clone(), definition.annotations);
        Self { spec, remote_name, annotations, client, timeout_ms }
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

    /// A server's word grants no permission: a call that claims to read only may run beside others
    /// and be repeated, and still needs approval.
    fn assess(&self, _input: &RawJson) -> CallFacts {
        let ToolAnnotations { read_only_hint, idempotent_hint } = self.annotations;
        let repeat = match read_only_hint || idempotent_hint {
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
        let timeout_ms = self.timeout_ms;
        CallFacts { touches, repeat, interrupt, timeout_ms, ..CallFacts::default() }
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(async move {
            let arguments: Value = input.read().unwrap_or_default();
            let call = json!({
                "name": self.remote_name,
                "arguments": arguments,
                "_meta": {IDEMPOTENCY_KEY: &*context.idempotency_key},
            });
            match self.client.request("tools/call", call).await {
                Ok(result) => outcome_of_result(&result),
                Err(error) => ToolOutcome::Failed(tool_error(&error)),
            }
        })
    }

    fn needs_workspace(&self) -> bool {
        false
    }
}

fn tool_error(error: &McpError) -> ToolError {
    let (code, hint) = match error {
        McpError::Unreachable(_) => ("mcp_unreachable", "whether it had an effect is not known"),
        McpError::Refused { .. } => ("mcp_error", "change the input or do without the tool"),
        McpError::Invalid(_) => ("mcp_protocol", "do without the tool"),
    };
    ToolError::new(code, &error.to_string(), hint)
}
