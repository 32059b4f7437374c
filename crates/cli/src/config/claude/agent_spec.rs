//! The definition of a sub-agent, and definitions as JSON: `--agents`, and the agents that a program
//! sends. Files with definitions are in `agent_files.rs`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use serde::Deserialize;
use serde_json::{Map, Value};
use windlass::core::permission::PermissionMode;
use windlass::core::settings::conversation_settings::Effort;

use crate::config::claude::permission_settings;
use crate::config::claude::settings_check::{RuleListKind, SettingsFindings};
use crate::config::trust::project_grants::hook_lines;

#[cfg(test)]
#[path = "agent_spec_tests.rs"]
mod agent_spec_tests;

/// Maximum number of agents that are defined at once.
pub(crate) const MAX_AGENTS: usize = 100;

/// Maximum size of the definitions in bytes.
const MAX_JSON_BYTES: usize = 4 << 20;

/// The largest number of turns that an agent can have.
const MAX_TURNS: u32 = 10_000;

/// The definition of a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentSpec {
    /// The name used by tasks.
    pub(crate) name: String,
    /// When this agent should be used.
    pub(crate) description: String,
    /// The agent's tools, out of those of its parent; all of them if not given.
    pub(crate) tools: Option<Vec<String>>,
    /// Tools that the agent does not have, even if its parent has them.
    pub(crate) disallowed: Vec<String>,
    /// The agent's model; its parent's if not given.
    pub(crate) model: Option<String>,
    /// The agent's reasoning effort; its parent's if not given.
    pub(crate) effort: Option<Effort>,
    /// How many rounds of tool calls the agent has; as many as its parent if not given.
    pub(crate) max_turns: Option<u32>,
    /// The agent's permission mode, which can only be narrower than its parent's.
    pub(crate) permission_mode: Option<PermissionMode>,
    /// Whether the agent works in the background, where that is possible.
    pub(crate) background: bool,
    /// Where its tools work.
    pub(crate) isolation: AgentIsolation,
    /// Skills whose instructions are a part of its system prompt.
    pub(crate) skills: Vec<String>,
    /// The MCP servers whose tools the agent has; those of its parent if not given.
    pub(crate) mcp_servers: Option<Vec<String>>,
    /// Hooks that run for this agent only, as in a settings file.
    pub(crate) hooks: Value,
    /// Where the definition comes from.
    pub(crate) source: AgentSource,
    /// The agent's system prompt.
    pub(crate) prompt: String,
}

/// Where the tools of a sub-agent work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum AgentIsolation {
    /// In the workspace, with its parent.
    #[default]
    Shared,
    /// In a git worktree of its own.
    Worktree,
}

/// Where the definition of an agent comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AgentSource {
    /// `--agents`, or a program of the Agent SDKs.
    Given,
    /// A file of the user.
    UserFile(PathBuf),
    /// A file of the project.
    ProjectFile(PathBuf),
    /// A file of a plugin.
    PluginFile(PathBuf),
}

impl AgentSource {
    /// The file of the definition.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Given => None,
            Self::UserFile(path) | Self::ProjectFile(path) | Self::PluginFile(path) => Some(path),
        }
    }
}

/// An agent as a program defines it. Fields for features that do not exist here are ignored.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AgentJson {
    description: String,
    prompt: String,
    #[serde(default)]
    tools: Option<NameList>,
    #[serde(default)]
    disallowed_tools: Option<NameList>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    effort: Option<Value>,
    #[serde(default)]
    max_turns: Option<u64>,
    #[serde(default)]
    permission_mode: Option<String>,
    #[serde(default)]
    background: Option<bool>,
    #[serde(default)]
    isolation: Option<String>,
    #[serde(default)]
    skills: Option<NameList>,
    #[serde(default)]
    mcp_servers: Option<Value>,
}

/// A list of names: `["Read", "Grep"]`, or `"Read, Grep"` as in files.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Value")]
struct NameList(Vec<String>);

impl TryFrom<Value> for NameList {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let wrong = || "must be a list of names".to_owned();
        match value {
            Value::String(list) => Ok(Self(permission_settings::split_list(&list))),
            Value::Array(list) => {
                let name = |value: Value| value.as_str().map(str::to_owned).ok_or_else(wrong);
                list.into_iter().map(name).collect::<Result<_, _>>().map(Self)
            }
            _ => Err(wrong()),
        }
    }
}

/// Parses the value of `--agents`.
pub(crate) fn parse_agents(text: &str) -> anyhow::Result<Vec<AgentSpec>> {
    if text.len() > MAX_JSON_BYTES {
        bail!("--agents has {} bytes; the limit is {MAX_JSON_BYTES}", text.len());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(table)) => agents_from_json(table),
        Ok(_) => bail!(
            "--agents must be a JSON object such as {{\"reviewer\": {{\"description\": \"…\", \"prompt\": \"…\"}}}}"
        ),
        Err(error) => bail!("--agents is not valid JSON ({error}); fix it"),
    }
}

/// Converts definitions by name, as `--agents` and the SDKs give them.
pub(crate) fn agents_from_json(table: Map<String, Value>) -> anyhow::Result<Vec<AgentSpec>> {
    if table.len() > MAX_AGENTS {
        bail!("{} agents are defined; the limit is {MAX_AGENTS}", table.len());
    }
    let agent = |(name, value): (String, Value)| {
        let parsed = serde_json::from_value(value).map_err(|error| error.to_string());
        let spec = parsed.and_then(|json| AgentSpec::from_json(&name, json));
        spec.map_err(|reason| anyhow::anyhow!("the agent `{name}` is not valid: {reason}; fix it"))
    };
    table.into_iter().map(agent).collect()
}

impl AgentSpec {
    /// What the agent requests beyond its text and a choice of tools.
    pub(super) fn grants(&self) -> Vec<String> {
        let model = self.model.as_ref().map(|model| format!("model {model}"));
        let effort = self.effort.map(|effort| format!("effort {effort:?}").to_lowercase());
        let turns = self.max_turns.map(|turns| format!("maxTurns {turns}"));
        let mode = self.permission_mode.map(permission_settings::mode_name);
        let mode = mode.map(|mode| format!("permissionMode {mode}"));
        let hooks = match self.hooks.is_object() {
            true => hook_lines(&self.hooks),
            false => Vec::new(),
        };
        let hooks = hooks.into_iter().map(|hook| format!("hook {hook}"));
        [model, effort, turns, mode].into_iter().flatten().chain(hooks).collect()
    }

    /// The tools of the agent, out of those of its parent; `None` for all of them.
    pub(crate) fn tool_names<'t>(&self, every_tool: &'t [Arc<str>]) -> Option<Vec<&'t str>> {
        if self.tools.is_none() && self.disallowed.is_empty() && self.mcp_servers.is_none() {
            return None;
        }
        let has = |name: &&str| {
            let is_listed = self.tools.as_ref().is_none_or(|tools| {
                tools.iter().any(|tool| covers_tool(permission_settings::rule_tool(tool), name))
            });
            let is_denied =
                self.disallowed.iter().any(|rule| permission_settings::is_for(rule, name));
            is_listed && !is_denied && self.has_server_of(name)
        };
        Some(every_tool.iter().map(AsRef::as_ref).filter(has).collect())
    }

    /// Returns whether the agent has the server of a tool; tools of no server are not concerned.
    fn has_server_of(&self, tool: &str) -> bool {
        let Some(rest) = tool.strip_prefix("mcp__") else { return true };
        self.mcp_servers.as_ref().is_none_or(|servers| {
            servers.iter().any(|server| {
                rest.strip_prefix(server.as_str()).is_some_and(|tool| tool.starts_with("__"))
            })
        })
    }

    /// The agent as an untrusted folder may define it.
    pub(super) fn text_only(self) -> Self {
        let hooks = Value::Null;
        Self { model: None, effort: None, max_turns: None, permission_mode: None, hooks, ..self }
    }

    fn from_json(name: &str, json: AgentJson) -> Result<Self, String> {
        check_agent_name(name)?;
        if json.prompt.trim().is_empty() {
            return Err("`prompt` is empty; write what the agent should do".to_owned());
        }
        let effort = json.effort.as_ref().map(parse_json_effort).transpose()?;
        let mode = json.permission_mode.as_deref().map(permission_settings::parse_mode);
        let tools = json.tools.map(|NameList(names)| names);
        let disallowed = json.disallowed_tools.map(|NameList(names)| names).unwrap_or_default();
        let mut findings = SettingsFindings::default();
        findings.check_rules(&disallowed, RuleListKind::Restrict);
        if let Some(error) = findings.errors.into_iter().next() {
            return Err(error);
        }
        Ok(Self {
            name: name.to_owned(),
            description: json.description,
            tools: tools.filter(|tools| !tools.iter().any(|tool| tool == "*")),
            disallowed,
            model: json.model.filter(|model| !model.is_empty() && model != "inherit"),
            effort: effort.flatten(),
            max_turns: json.max_turns.map(parse_turns).transpose()?,
            permission_mode: mode.transpose().map_err(|error| error.to_string())?,
            background: json.background.unwrap_or_default(),
            isolation: json
                .isolation
                .as_deref()
                .map(parse_isolation)
                .transpose()?
                .unwrap_or_default(),
            skills: json.skills.map(|NameList(names)| names).unwrap_or_default(),
            mcp_servers: json.mcp_servers.as_ref().map(server_names),
            hooks: Value::Null,
            source: AgentSource::Given,
            prompt: json.prompt,
        })
    }
}

/// The names in a list of servers; a server may be written out under its name.
fn server_names(servers: &Value) -> Vec<String> {
    let name = |server: &Value| match server {
        Value::String(name) => Some(name.clone()),
        Value::Object(table) => table.keys().next().cloned(),
        _ => None,
    };
    match servers {
        Value::Object(table) => table.keys().cloned().collect(),
        Value::Array(list) => list.iter().filter_map(name).collect(),
        _ => Vec::new(),
    }
}

/// Returns whether an entry of a list of tools is for a tool: `mcp__db` and `mcp__db__*` are for all
/// tools of a server.
fn covers_tool(entry: &str, tool: &str) -> bool {
    match entry.strip_suffix('*') {
        Some(prefix) if entry.starts_with("mcp__") => tool.starts_with(prefix),
        _ => {
            entry == tool
                || (entry.starts_with("mcp__")
                    && tool.strip_prefix(entry).is_some_and(|rest| rest.starts_with("__")))
        }
    }
}

/// Checks the name of an agent, which the model writes and lists show.
pub(super) fn check_agent_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':');
    match !name.is_empty() && name.chars().all(fits) {
        true => Ok(()),
        false => Err(format!("the name `{name}` may have letters, digits, `-` and `_` only")),
    }
}

/// Parses where the tools of an agent work.
pub(super) fn parse_isolation(word: &str) -> Result<AgentIsolation, String> {
    match word {
        "worktree" => Ok(AgentIsolation::Worktree),
        _ => Err(format!("`isolation` is `{word}`; write worktree, or remove it")),
    }
}

/// Parses the effort of an agent.
pub(super) fn parse_effort(word: &str) -> Result<Effort, String> {
    let efforts = "low, medium, high, xhigh or max";
    Effort::from_name(word).ok_or_else(|| format!("unknown effort `{word}`; use {efforts}"))
}

/// The effort of a definition; a number is a level of another product and has no meaning here.
fn parse_json_effort(value: &Value) -> Result<Option<Effort>, String> {
    match value {
        Value::String(word) => parse_effort(word).map(Some),
        Value::Number(_) | Value::Null => Ok(None),
        _ => Err("`effort` must be a text".to_owned()),
    }
}

/// Parses the number of turns of an agent.
pub(super) fn parse_turns(turns: u64) -> Result<u32, String> {
    let fits = u32::try_from(turns).ok().filter(|turns| (1..=MAX_TURNS).contains(turns));
    fits.ok_or_else(|| format!("`maxTurns` is {turns}; give a number from 1 to {MAX_TURNS}"))
}
