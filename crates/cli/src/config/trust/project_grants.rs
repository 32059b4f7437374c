//! Grants of a project: what it would run or allow if its folder were trusted: hooks, allow rules,
//! variables, MCP servers, helpers, the files that these run, and the rules that its commands and
//! agents bring. Trust is bound to exactly this, by a hash for each kind. Text, and what can only
//! restrict (deny and ask rules), is not part of it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};
use windlass_core::message::raw_json::RawJson;

use crate::config::claude::config_file::{ConfigFile, FileOwner};
use crate::config::claude::settings_sources::SettingsFile;
use crate::config::claude::{agent_files, custom_commands, skills};
use crate::config::command_tools;
use crate::config::scripts::ScriptFiles;
use crate::config::trust::command_texts::command_texts;

/// Maximum size of `.mcp.json` in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Settings that grant nothing: they describe the file, or choose text.
const NON_GRANTING_SETTINGS: [&str; 2] = ["$schema", "outputStyle"];

/// Name of the grant kind for rules and models of a project's custom commands.
const COMMAND_RULES: &str = "command rules";

/// One kind of grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GrantKind {
    /// The name of the kind: `hooks`, `allow rules`.
    pub(crate) name: &'static str,
    /// Each grant on one line, as the file has it.
    pub(crate) lines: Vec<String>,
    /// The hash of all grants of this kind.
    pub(crate) hash: String,
}

/// Everything that trust would enable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ProjectGrants {
    pub(crate) kinds: Vec<GrantKind>,
    /// Why what would run cannot be read completely: then the folder cannot be trusted.
    pub(crate) too_much: Option<String>,
}

impl ProjectGrants {
    /// Reads what the settings of a project and the files beside them would grant.
    pub(crate) fn read(workspace: &Path, texts: &[SettingsFile]) -> Self {
        let tables: Vec<&Map<String, Value>> = texts.iter().map(|text| &text.table).collect();
        let mut grants = Self::default();
        let of =
            |name: &str| tables.iter().filter_map(|t| t.get(name)).cloned().collect::<Vec<_>>();
        let hooks = of("hooks");
        grants.add("hooks", hooks.iter().flat_map(hook_lines).collect(), &json!(hooks));
        let allowed: Vec<Value> = of("permissions").into_iter().map(without_restrictions).collect();
        grants.add("allow rules", allowed.iter().flat_map(leaf_lines).collect(), &json!(allowed));
        let env = of("env");
        grants.add("environment variables", env.iter().flat_map(leaf_lines).collect(), &json!(env));
        let servers = grants.add_mcp_servers(workspace);
        let rest: Vec<Value> = tables.iter().map(|table| other_settings(table)).collect();
        let all_hooks = [hooks, agent_files::agent_hook_values(workspace)].concat();
        let mut commands = command_texts((&all_hooks, &env), &servers, &rest);
        commands.extend(command_tools::project_commands(workspace));
        commands.extend(skills::allowed_commands(workspace).into_iter().map(Value::from));
        grants.add_scripts(workspace, &commands);
        let (lines, tools) = command_tools::tool_grants(workspace);
        grants.add("command tools", lines, &tools);
        grants.add("other settings", rest.iter().flat_map(leaf_lines).collect(), &json!(rest));
        let commands = custom_commands::command_grants(workspace);
        grants.add(COMMAND_RULES, commands.clone(), &json!(commands));
        let skills = skills::skill_grants(workspace);
        grants.add("skill rules", skills.clone(), &json!(skills));
        let agents = agent_files::agent_grants(workspace);
        grants.add("agents", agents.clone(), &json!(agents));
        grants
    }

    /// Adds a kind, unless it has no grants.
    fn add(&mut self, name: &'static str, lines: Vec<String>, content: &Value) {
        if !lines.is_empty() {
            let hash = RawJson::encode(content).canonical_hash_hex();
            self.kinds.push(GrantKind { name, lines, hash });
        }
    }

    /// Adds the servers of `.mcp.json`, and returns them.
    fn add_mcp_servers(&mut self, workspace: &Path) -> Value {
        let name = ".mcp.json";
        let file = ConfigFile::new(workspace, name, FileOwner::Project);
        let (lines, content) = match file.read(MAX_FILE_BYTES) {
            Ok(None) => return Value::Null,
            Ok(Some(text)) => {
                let servers: Value = serde_json::from_str(&text).unwrap_or_default();
                let lines = servers.get("mcpServers").map(leaf_lines).unwrap_or_default();
                let lines = if lines.is_empty() { vec![name.to_owned()] } else { lines };
                self.add("MCP servers", lines, &json!(text));
                return servers;
            }
            Err(error) => (vec![format!("{name} {error}")], json!(error.to_string())),
        };
        self.add("MCP servers", lines, &content);
        Value::Null
    }

    /// Adds the files that any of the commands run.
    fn add_scripts(&mut self, workspace: &Path, commands: &[Value]) {
        let ScriptFiles { hashes, too_much } = ScriptFiles::read(workspace, commands);
        self.add("scripts", hashes.keys().cloned().collect(), &json!(hashes));
        self.too_much = too_much;
    }

    /// Returns whether there is nothing that trust would enable.
    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The hash of each kind, by name.
    pub(crate) fn hashes(&self) -> BTreeMap<String, String> {
        self.kinds.iter().map(|kind| (kind.name.to_owned(), kind.hash.clone())).collect()
    }

    /// The kinds that changed since they had these hashes. Removed kinds do not count.
    pub(crate) fn changed_since(&self, hashes: &BTreeMap<String, String>) -> Vec<&'static str> {
        let changed = self.kinds.iter().filter(|kind| hashes.get(kind.name) != Some(&kind.hash));
        changed.map(|kind| kind.name).collect()
    }

    /// The kinds that every run lacks without trust. What a custom command brings is reported when it
    /// is typed.
    pub(crate) fn kinds_of_every_run(&self) -> impl Iterator<Item = &GrantKind> {
        self.kinds.iter().filter(|kind| kind.name != COMMAND_RULES)
    }

    /// The number of grants of each kind that affects every run: `2 hooks, 1 allow rule`.
    pub(crate) fn summarize(&self) -> String {
        let count = |kind: &GrantKind| match kind.lines.len() {
            1 => format!("1 {}", kind.name.strip_suffix('s').unwrap_or(kind.name)),
            many => format!("{many} {}", kind.name),
        };
        self.kinds_of_every_run().map(count).collect::<Vec<_>>().join(", ")
    }
}

/// The permissions without those that can only restrict.
fn without_restrictions(mut permissions: Value) -> Value {
    if let Some(table) = permissions.as_object_mut() {
        for limit in ["deny", "ask", "disableBypassPermissionsMode", "disableAutoMode"] {
            table.remove(limit);
        }
    }
    permissions
}

fn other_settings(table: &Map<String, Value>) -> Value {
    let counts = |name: &String| {
        !["hooks", "permissions", "env"].contains(&name.as_str())
            && !NON_GRANTING_SETTINGS.contains(&&**name)
    };
    let rest = table.iter().filter(|(name, _)| counts(name));
    Value::Object(rest.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// One line for every value in it, with the names that lead to it.
fn leaf_lines(value: &Value) -> Vec<String> {
    let below = |name: &str, value: &Value| {
        let join = |line: String| match (line.starts_with(['.', ':']), name.is_empty()) {
            (_, true) => line,
            (true, false) => format!("{name}{line}"),
            (false, false) => format!("{name}.{line}"),
        };
        leaf_lines(value).into_iter().map(join).collect::<Vec<_>>()
    };
    match value {
        Value::Object(table) => table.iter().flat_map(|(name, value)| below(name, value)).collect(),
        Value::Array(list) => list.iter().flat_map(|value| below("", value)).collect(),
        Value::String(text) => vec![format!(": {text}")],
        Value::Null => Vec::new(),
        other => vec![format!(": {other}")],
    }
}

/// One line for each hook: its event, its matcher, and the complete command.
pub(crate) fn hook_lines(hooks: &Value) -> Vec<String> {
    let Some(events) = hooks.as_object() else { return vec![hooks.to_string()] };
    let mut lines = Vec::new();
    for (event, groups) in events {
        for group in groups.as_array().into_iter().flatten() {
            let matcher = group.get("matcher").and_then(Value::as_str).unwrap_or_default();
            let matcher = if matcher.is_empty() { String::new() } else { format!(" ({matcher})") };
            for hook in group.get("hooks").and_then(Value::as_array).into_iter().flatten() {
                let what = match hook.get("command").and_then(Value::as_str) {
                    Some(command) => command.to_owned(),
                    None => hook.to_string(),
                };
                lines.push(format!("{event}{matcher}: {what}"));
            }
        }
    }
    lines
}
