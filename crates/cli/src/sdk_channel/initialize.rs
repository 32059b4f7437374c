//! The `initialize` request: what a program sets beside its command line, because it is too large
//! for one or refers to functions of the program.

use serde_json::{Map, Value};
use windlass::mcp::TransportConfig;

use super::incoming::ControlRequest;
use crate::args::PrintArgs;
use crate::config::mcp::{ConfiguredServer, server_list};

#[cfg(test)]
#[path = "initialize_tests.rs"]
mod initialize_tests;

/// What a program sets when it connects. Fields that are not known are ignored.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct InitializeRequest {
    /// Callbacks for hook events.
    pub(super) hooks: Value,
    /// Definitions of sub-agents, by name.
    pub(super) agents: Map<String, Value>,
    /// The system prompt, in parts; `None` keeps that of the command line.
    system_prompt: Option<String>,
    append_system_prompt: Option<String>,
    json_schema: Option<Value>,
    /// The MCP servers that run in the program.
    pub(super) mcp_servers: Vec<String>,
    /// What the program says about its MCP servers, by name.
    pub(super) mcp_manifests: Map<String, Value>,
    /// Further settings of its MCP servers, by name.
    pub(super) mcp_configs: Map<String, Value>,
    /// The skills that are offered; `None` for all.
    skills: Option<Vec<String>>,
    forward_subagent_text: bool,
    /// The title of the conversation.
    pub(super) title: Option<String>,
    /// The fields that programs use to ask for features that are off by default.
    pub(super) exclude_dynamic_sections: bool,
}

impl InitializeRequest {
    pub(super) fn parse(request: &ControlRequest) -> Self {
        let text = |name: &str| request.text(name).map(str::to_owned);
        let object = |name: &str| match request.fields.get(name) {
            Some(Value::Object(object)) => object.clone(),
            Some(_) | None => Map::new(),
        };
        Self {
            hooks: request.fields.get("hooks").cloned().unwrap_or_default(),
            agents: object("agents"),
            system_prompt: request.fields.get("systemPrompt").and_then(read_prompt),
            append_system_prompt: text("appendSystemPrompt"),
            json_schema: request.fields.get("jsonSchema").filter(|it| it.is_object()).cloned(),
            mcp_servers: read_names(request.fields.get("sdkMcpServers")).unwrap_or_default(),
            mcp_manifests: object("sdkMcpServerManifests"),
            mcp_configs: object("sdkMcpServerConfigs"),
            skills: read_names(request.fields.get("skills")),
            forward_subagent_text: request.flag("forwardSubagentText"),
            title: text("title").filter(|title| !title.trim().is_empty()),
            exclude_dynamic_sections: request.flag("excludeDynamicSections"),
        }
    }

    /// Applies what could have been flags to the command line.
    pub(super) fn apply_to(&self, print: &mut PrintArgs) {
        let prompt = &mut print.agent.prompt;
        if let Some(text) = &self.system_prompt {
            prompt.system_prompt = Some(text.clone());
        }
        if let Some(text) = &self.append_system_prompt {
            prompt.append_system_prompt = Some(text.clone());
        }
        if let Some(schema) = &self.json_schema {
            prompt.json_schema = Some(schema.to_string());
        }
        print.sdk.forward_subagent_text |= self.forward_subagent_text;
        print.agent.agents.skills.clone_from(&self.skills);
    }

    /// The MCP servers that run in the program, named here or on the command line.
    pub(super) fn sdk_servers(&self, print: &PrintArgs) -> anyhow::Result<Vec<String>> {
        let mut names = self.mcp_servers.clone();
        let given = server_list::given_servers(&print.agent.mcp)?;
        let is_hosted = |server: &ConfiguredServer| {
            server.config.as_ref().is_ok_and(|config| config.transport == TransportConfig::Sdk)
        };
        names.extend(given.into_iter().filter(is_hosted).map(|server| server.name));
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        Ok(names)
    }
}

/// A system prompt is a text or a list of parts; empty parts are left out.
fn read_prompt(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let parts = parts.iter().filter_map(Value::as_str).filter(|part| !part.is_empty());
            Some(parts.collect::<Vec<_>>().join("\n\n"))
        }
        _ => None,
    }
}

fn read_names(value: Option<&Value>) -> Option<Vec<String>> {
    let names = value?.as_array()?.iter().filter_map(Value::as_str);
    Some(names.map(str::to_owned).collect())
}
