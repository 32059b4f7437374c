//! The definition of a sub-agent, and definitions as JSON: `--agents`, and the agents that a program
//! sends. Files with definitions are in `agent_files.rs`.

use anyhow::bail;
use serde::Deserialize;
use serde_json::{Map, Value};
use windlass::core::permission::PermissionMode;
use windlass::core::settings::conversation_settings::Effort;

use crate::config::claude::permission_settings;
use crate::config::claude::settings_check::{RuleListKind, SettingsFindings};

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
    /// The agent's system prompt.
    pub(crate) prompt: String,
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
        [model, effort, turns, mode].into_iter().flatten().collect()
    }

    /// The agent as an untrusted folder may define it.
    pub(super) fn text_only(self) -> Self {
        Self { model: None, effort: None, max_turns: None, permission_mode: None, ..self }
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
            prompt: json.prompt,
        })
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
