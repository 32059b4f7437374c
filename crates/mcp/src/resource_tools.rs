//! `ListMcpResources` and `ReadMcpResource`: the model finds and reads resources of servers.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_core::call::call_facts::{CallFacts, Repeatability};
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::ContentSource;
use windlass_core::settings::conversation_settings::ToolSpec;
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use crate::connection::McpError;
use crate::mcp_tool::tool_error;
use crate::result_content::outcome_of_blocks;
use crate::server_set::McpServers;

/// Number of resources that one call lists.
const MAX_LISTED: usize = 500;

/// `ListMcpResources`: lists the resources of one server, or of all.
pub struct ListResourcesTool(pub McpServers);

/// `ReadMcpResource`: reads one resource.
pub struct ReadResourceTool(pub McpServers);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListInput {
    server: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadInput {
    server: String,
    uri: String,
}

fn spec(name: &str, description: &str, schema: &Value) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: description.into(),
        input_schema: RawJson::encode(schema),
    }
}

/// Reading changes nothing. What is read comes from a server that is configured and approved.
fn facts(summary: Option<String>) -> CallFacts {
    CallFacts {
        touches: TouchedResources::Reads(Vec::new()),
        repeat: Repeatability::Repeatable,
        summary: summary.map(Into::into),
        ..CallFacts::default()
    }
}

impl Tool for ListResourcesTool {
    fn spec(&self) -> ToolSpec {
        let schema = json!({
            "type": "object",
            "properties": {"server": {"type": "string", "description": "The server; all of them if not given"}},
            "additionalProperties": false,
        });
        spec("ListMcpResources", "Lists the resources (documents) that MCP servers offer.", &schema)
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        facts(input.read::<ListInput>().ok().and_then(|asked| asked.server))
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(async move {
            let wanted = input.read::<ListInput>().ok().and_then(|asked| asked.server);
            let servers = self.0.list();
            let mut listed = Vec::new();
            let mut problems = Vec::new();
            let mut is_known = false;
            for server in
                servers.iter().filter(|it| wanted.as_deref().is_none_or(|name| name == it.name()))
            {
                is_known = true;
                match server.list_resources().await {
                    Ok(resources) => {
                        context.sources.report(ContentSource::Mcp(server.name().into()));
                        listed.extend(
                            resources.iter().map(|resource| resource.to_json(server.name())),
                        );
                    }
                    Err(error) => problems.push(format!("{}: {error}", server.name())),
                }
            }
            if !is_known {
                return ToolOutcome::Failed(unknown_server(&self.0));
            }
            let left_out = listed.len().saturating_sub(MAX_LISTED);
            listed.truncate(MAX_LISTED);
            let mut found = json!({"resources": listed});
            if let Some(fields) = found.as_object_mut() {
                if left_out > 0 {
                    fields.insert("left_out".to_owned(), json!(left_out));
                }
                if !problems.is_empty() {
                    fields.insert("problems".to_owned(), json!(problems));
                }
            }
            ToolOutcome::Done(RawJson::string(&found.to_string()))
        })
    }

    fn needs_workspace(&self) -> bool {
        false
    }
}

impl Tool for ReadResourceTool {
    fn spec(&self) -> ToolSpec {
        let schema = json!({
            "type": "object",
            "properties": {
                "server": {"type": "string", "description": "The server"},
                "uri": {"type": "string", "description": "The URI of the resource"},
            },
            "required": ["server", "uri"],
            "additionalProperties": false,
        });
        spec("ReadMcpResource", "Reads a resource (document) of an MCP server.", &schema)
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        facts(input.read::<ReadInput>().ok().map(|asked| format!("{}:{}", asked.server, asked.uri)))
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(async move {
            let Ok(asked) = input.read::<ReadInput>() else {
                return ToolOutcome::Failed(unknown_server(&self.0));
            };
            let Some(server) = self.0.find(&asked.server) else {
                return ToolOutcome::Failed(unknown_server(&self.0));
            };
            match server.read_resource(&asked.uri).await {
                Ok(blocks) => {
                    context.sources.report(ContentSource::Mcp(server.name().into()));
                    outcome_of_blocks(blocks)
                }
                Err(error) => ToolOutcome::Failed(tool_error(server.name(), &error)),
            }
        })
    }

    fn needs_workspace(&self) -> bool {
        false
    }
}

fn unknown_server(servers: &McpServers) -> ToolError {
    let names: Vec<String> = servers.list().iter().map(|it| it.name().to_owned()).collect();
    let error = McpError::Misconfigured("there is no server of this name".to_owned());
    ToolError::new(
        "mcp_unknown_server",
        &error.to_string(),
        &format!("use one of: {}", names.join(", ")),
    )
}
