//! What a project would run or allow if its folder were trusted: hooks, allow rules, variables, MCP
//! servers, helpers, the files that these run, and the rules that its commands and agents bring.
//! Trust is bound to exactly this, by a hash for each kind. What only holds back (deny and ask rules) and text is not in it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};
use windlass_core::raw::sha256_hex;

use super::config_file::{ConfigFile, Owner};
use super::scripts::ScriptFiles;
use super::sources::SettingsText;
use super::{agents, customs};

/// Bytes of `.mcp.json`.
const FILE_BYTES: u64 = 1 << 20;

/// Settings that say something about the file and grant nothing.
const NO_GRANT: [&str; 1] = ["$schema"];

/// What the commands of a project bring along.
const COMMAND_RULES: &str = "command rules";

/// One kind of grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GrantKind {
    /// What it is called: `hooks`, `allow rules`.
    pub(crate) name: &'static str,
    /// Each grant in one line, as the file has it.
    pub(crate) lines: Vec<String>,
    /// The hash of all that counts.
    pub(crate) hash: String,
}

/// Everything that trust would enable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ProjectGrants {
    pub(crate) kinds: Vec<GrantKind>,
    /// Why not all that would run can be looked at: then nobody can trust it.
    pub(crate) too_much: Option<String>,
}

impl ProjectGrants {
    /// What the settings of a project and the files beside them would grant.
    pub(crate) fn read(workspace: &Path, texts: &[SettingsText]) -> Self {
        let tables: Vec<&Map<String, Value>> = texts.iter().map(|text| &text.table).collect();
        let mut grants = Self::default();
        let of =
            |name: &str| tables.iter().filter_map(|t| t.get(name)).cloned().collect::<Vec<_>>();
        let hooks = of("hooks");
        grants.add("hooks", hooks.iter().flat_map(hook_lines).collect(), &json!(hooks));
        let allowed: Vec<Value> = of("permissions").into_iter().map(without_limits).collect();
        grants.add("allow rules", allowed.iter().flat_map(leaves).collect(), &json!(allowed));
        let env = of("env");
        grants.add("environment variables", env.iter().flat_map(leaves).collect(), &json!(env));
        let servers = grants.add_mcp_servers(workspace);
        let rest: Vec<Value> = tables.iter().map(|table| other(table)).collect();
        grants.add_scripts(workspace, &[hooks, env, vec![servers], rest.clone()].concat());
        grants.add("other settings", rest.iter().flat_map(leaves).collect(), &json!(rest));
        let commands = customs::granting(workspace);
        grants.add(COMMAND_RULES, commands.clone(), &json!(commands));
        let agents = agents::granting(workspace);
        grants.add("agents", agents.clone(), &json!(agents));
        grants
    }

    /// Adds a kind, unless there is nothing of it.
    fn add(&mut self, name: &'static str, lines: Vec<String>, content: &Value) {
        if !lines.is_empty() {
            let hash = sha256_hex(content.to_string().as_bytes());
            self.kinds.push(GrantKind { name, lines, hash });
        }
    }

    /// Adds the servers of `.mcp.json`, and gives them.
    fn add_mcp_servers(&mut self, workspace: &Path) -> Value {
        let name = ".mcp.json";
        let file = ConfigFile::new(workspace, name, Owner::Project);
        let (lines, content) = match file.read(FILE_BYTES) {
            Ok(None) => return Value::Null,
            Ok(Some(text)) => {
                let servers: Value = serde_json::from_str(&text).unwrap_or_default();
                let lines = servers.get("mcpServers").map(leaves).unwrap_or_default();
                let lines = if lines.is_empty() { vec![name.to_owned()] } else { lines };
                self.add("MCP servers", lines, &json!(text));
                return servers;
            }
            Err(why) => (vec![format!("{name} {why}")], json!(why.to_string())),
        };
        self.add("MCP servers", lines, &content);
        Value::Null
    }

    /// The files that any of it runs.
    fn add_scripts(&mut self, workspace: &Path, commands: &[Value]) {
        let ScriptFiles { hashes, too_much } = ScriptFiles::read(workspace, commands);
        self.add("scripts", hashes.keys().cloned().collect(), &json!(hashes));
        self.too_much = too_much;
    }

    /// Whether there is nothing that trust would enable.
    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The hash of each kind.
    pub(crate) fn hashes(&self) -> BTreeMap<String, String> {
        self.kinds.iter().map(|kind| (kind.name.to_owned(), kind.hash.clone())).collect()
    }

    /// The kinds that are not as they were when they had these hashes. One that is gone is fine.
    pub(crate) fn changed_since(&self, hashes: &BTreeMap<String, String>) -> Vec<&'static str> {
        let changed = self.kinds.iter().filter(|kind| hashes.get(kind.name) != Some(&kind.hash));
        changed.map(|kind| kind.name).collect()
    }

    /// Whether every run is without something. What a command brings is told when it is typed.
    pub(crate) fn concern_every_run(&self) -> bool {
        self.kinds.iter().any(|kind| kind.name != COMMAND_RULES)
    }

    /// How many there are of each kind that concerns every run: `2 hooks, 1 allow rule`.
    pub(crate) fn counted(&self) -> String {
        let counts = |kind: &&GrantKind| kind.name != COMMAND_RULES;
        let count = |kind: &GrantKind| match kind.lines.len() {
            1 => format!("1 {}", kind.name.strip_suffix('s').unwrap_or(kind.name)),
            many => format!("{many} {}", kind.name),
        };
        self.kinds.iter().filter(counts).map(count).collect::<Vec<_>>().join(", ")
    }
}

/// Permissions without what can only hold back.
fn without_limits(mut permissions: Value) -> Value {
    if let Some(table) = permissions.as_object_mut() {
        for limit in ["deny", "ask", "disableBypassPermissionsMode", "disableAutoMode"] {
            table.remove(limit);
        }
    }
    permissions
}

fn other(table: &Map<String, Value>) -> Value {
    let counts = |name: &String| {
        !["hooks", "permissions", "env"].contains(&name.as_str()) && !NO_GRANT.contains(&&**name)
    };
    let rest = table.iter().filter(|(name, _)| counts(name));
    Value::Object(rest.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Every value in it, with the names that lead to it.
fn leaves(value: &Value) -> Vec<String> {
    let below = |name: &str, value: &Value| {
        let join = |line: String| match (line.starts_with(['.', ':']), name.is_empty()) {
            (_, true) => line,
            (true, false) => format!("{name}{line}"),
            (false, false) => format!("{name}.{line}"),
        };
        leaves(value).into_iter().map(join).collect::<Vec<_>>()
    };
    match value {
        Value::Object(table) => table.iter().flat_map(|(name, value)| below(name, value)).collect(),
        Value::Array(list) => list.iter().flat_map(|value| below("", value)).collect(),
        Value::String(text) => vec![format!(": {text}")],
        Value::Null => Vec::new(),
        other => vec![format!(": {other}")],
    }
}

/// One line for each hook: when, for what, and the whole command.
fn hook_lines(hooks: &Value) -> Vec<String> {
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
