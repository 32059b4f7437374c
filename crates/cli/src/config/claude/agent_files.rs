//! Sub-agent definitions: `agents/*.md` in the settings folder, each with a name, a description,
//! perhaps tools and a model in its front matter, and a system prompt.
//!
//! An untrusted folder provides text only: its agents have their prompt, and tools only out of those
//! of their parent. They bring no model and no mode, and do not hide the user's own.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use windlass::core::permission::PermissionMode;

use crate::config::claude::agent_spec::{
    AgentSource, AgentSpec, MAX_AGENTS, check_agent_name, parse_effort, parse_isolation,
    parse_turns,
};
use crate::config::claude::config_file::{ConfigFile, FileOwner, list_files};
use crate::config::claude::front_matter::MarkdownPage;
use crate::config::claude::settings_check::SettingsFindings;
use crate::config::claude::{page_check, permission_settings};
use crate::config::paths;
use crate::config::plugins::Plugin;
use crate::config::trust::folder_trust::{TrustState, is_user_folder};

/// Maximum size of one file in bytes.
const MAX_FILE_BYTES: u64 = 256 << 10;

/// The agents in force, and what is wrong with files that are left out.
#[derive(Debug, Default)]
pub(crate) struct LoadedAgents {
    pub(crate) found: Vec<AgentSpec>,
    pub(crate) problems: Vec<String>,
    /// Agents that another one of the same name replaces.
    pub(crate) hidden: Vec<AgentSpec>,
    /// Findings in the front matter, each with its file and line.
    pub(crate) findings: SettingsFindings,
}

/// The agent files that apply, the one with the highest precedence last.
#[derive(Debug)]
pub(crate) struct AgentFiles {
    files: Vec<ConfigFile>,
    /// Plugins, whose agents have names of their own.
    plugins: Vec<Arc<Plugin>>,
    /// Whether the project is trusted.
    trust: TrustState,
}

/// Lists the files that agents are read from.
pub(crate) fn list_agent_files(
    reads: impl Fn(&str) -> bool,
    workspace: &Path,
    trust: TrustState,
    plugins: &[Arc<Plugin>],
) -> AgentFiles {
    let user = paths::user_settings_folder().filter(|_| reads("user"));
    let user = user
        .map(|folder| list_markdown_files(&folder, "agents", FileOwner::User))
        .unwrap_or_default();
    let project = match reads("project") && !is_user_folder(workspace) {
        true => list_markdown_files(workspace, ".claude/agents", FileOwner::Project),
        false => Vec::new(),
    };
    let files = match trust {
        TrustState::Trusted => [user, project],
        TrustState::Untrusted => [project, user],
    };
    AgentFiles { files: files.concat(), plugins: plugins.to_vec(), trust }
}

/// Reads the agents of these files.
pub(crate) fn load_agents(files: &AgentFiles) -> LoadedAgents {
    let mut agents = LoadedAgents::default();
    for file in &files.files {
        let (agent, findings) = read_agent(file);
        let is_text = file.owner() == FileOwner::Project && files.trust == TrustState::Untrusted;
        let source = match file.owner() {
            FileOwner::Project => AgentSource::ProjectFile(file.path()),
            _ => AgentSource::UserFile(file.path()),
        };
        let agent = agent.map(|agent| AgentSpec { source, ..agent });
        let agent = agent.map(|agent| if is_text { agent.text_only() } else { agent });
        agents.findings.extend_in(&file.path(), findings);
        match agent {
            Ok(agent) => {
                let (hidden, found) =
                    agents.found.into_iter().partition(|known| known.name == agent.name);
                agents.found = found;
                agents.hidden.extend::<Vec<AgentSpec>>(hidden);
                agents.found.push(agent);
            }
            Err(reason) => {
                agents.problems.push(format!("{} is ignored: {reason}", file.path().display()));
            }
        }
    }
    for plugin in &files.plugins {
        agents.add_plugin(plugin);
    }
    agents.found.truncate(MAX_AGENTS);
    agents
}

impl LoadedAgents {
    /// Adds the agents of a plugin.
    fn add_plugin(&mut self, plugin: &Plugin) {
        for file in plugin.agent_files() {
            let path = file.file.path();
            let (agent, findings) = read_agent(&file.file);
            self.findings.extend_in(&path, findings);
            match agent {
                Ok(agent) => self.found.push(AgentSpec {
                    name: plugin.qualify(&agent.name),
                    prompt: plugin.fill_root(&agent.prompt),
                    source: AgentSource::PluginFile(path.clone()),
                    ..agent
                }),
                Err(reason) => {
                    self.problems.push(format!("{} is ignored: {reason}", path.display()));
                }
            }
        }
    }

    /// The texts of the hooks of the agents, which may name scripts.
    fn hook_values(&self) -> Vec<Value> {
        self.found.iter().map(|agent| agent.hooks.clone()).filter(Value::is_object).collect()
    }

    /// These agents with the given ones, which replace those of the same name.
    pub(crate) fn with_given(mut self, given: &[AgentSpec]) -> Self {
        self.found.retain(|agent| !given.iter().any(|other| other.name == agent.name));
        self.found.extend(given.iter().cloned());
        self
    }
}

/// What each agent of a project requests beyond its text and a choice of tools, one line each.
pub(crate) fn agent_grants(workspace: &Path) -> Vec<String> {
    let files = list_markdown_files(workspace, ".claude/agents", FileOwner::Project);
    let files = AgentFiles { files, plugins: Vec::new(), trust: TrustState::Trusted };
    grant_lines(&load_agents(&files).found)
}

/// The hooks of the agents of a project.
pub(crate) fn agent_hook_values(workspace: &Path) -> Vec<Value> {
    let files = list_markdown_files(workspace, ".claude/agents", FileOwner::Project);
    let files = AgentFiles { files, plugins: Vec::new(), trust: TrustState::Trusted };
    load_agents(&files).hook_values()
}

/// What each agent of a plugin requests beyond its text and a choice of tools, one line each.
pub(crate) fn plugin_grants(plugin: &Plugin) -> Vec<String> {
    let mut agents = LoadedAgents::default();
    agents.add_plugin(plugin);
    grant_lines(&agents.found)
}

fn grant_lines(found: &[AgentSpec]) -> Vec<String> {
    let grants = |agent: &AgentSpec| {
        let grants = agent.grants().join(", ");
        (!grants.is_empty()).then(|| format!("{}: {grants}", agent.name))
    };
    found.iter().filter_map(grants).collect()
}

fn list_markdown_files(folder: &Path, sub: &str, owner: FileOwner) -> Vec<ConfigFile> {
    let mut files = list_files(folder, Path::new(sub), owner, 1, MAX_AGENTS);
    files.retain(|file| file.name().extension().is_some_and(|ext| ext == "md"));
    files
}

/// Reads the agent of a file, with the findings in its front matter.
fn read_agent(file: &ConfigFile) -> (Result<AgentSpec, String>, SettingsFindings) {
    let page = file.read(MAX_FILE_BYTES).map_err(|error| format!("it {error}"));
    let page = page.and_then(|text| MarkdownPage::parse(&text.ok_or("the file no longer exists")?));
    match page {
        Ok(page) => (agent_of(&page), page_check::check_agent(&page)),
        Err(reason) => (Err(reason), SettingsFindings::default()),
    }
}

fn agent_of(page: &MarkdownPage) -> Result<AgentSpec, String> {
    let name = page.get("name").ok_or("the front matter lacks `name`")?;
    check_agent_name(name)?;
    let about = page.get("description");
    let about =
        about.ok_or("the front matter lacks `description`; describe when to use the agent")?;
    if page.body.is_empty() {
        return Err("the file has no prompt text; write it below the front matter".to_owned());
    }
    Ok(AgentSpec {
        name: name.to_owned(),
        description: about.to_owned(),
        tools: page.list("tools").filter(|tools| !tools.iter().any(|tool| tool == "*")),
        disallowed: page.list("disallowedTools").unwrap_or_default(),
        model: page.get("model").filter(|model| *model != "inherit").map(str::to_owned),
        effort: page.get("effort").map(parse_effort).transpose()?,
        max_turns: page.get("maxTurns").map(parse_page_turns).transpose()?,
        permission_mode: page.get("permissionMode").map(parse_page_mode).transpose()?,
        background: page.get("background").map(parse_page_flag).transpose()?.unwrap_or_default(),
        isolation: page.get("isolation").map(parse_isolation).transpose()?.unwrap_or_default(),
        skills: page.list("skills").unwrap_or_default(),
        mcp_servers: page.list("mcpServers"),
        hooks: page.tree("hooks")?.map(agent_hooks).unwrap_or_default(),
        source: AgentSource::Given,
        prompt: page.body.clone(),
    })
}

/// The hooks of an agent: what runs at the end of a conversation runs at the end of the agent.
fn agent_hooks(mut hooks: Value) -> Value {
    if let Some(table) = hooks.as_object_mut()
        && let Some(stop) = table.remove("Stop")
    {
        let both = [table.remove("SubagentStop"), Some(stop)].into_iter().flatten();
        let groups = both.flat_map(|groups| groups.as_array().cloned().unwrap_or_default());
        let groups: Vec<Value> = groups.collect();
        table.insert("SubagentStop".to_owned(), Value::from(groups));
    }
    hooks
}

fn parse_page_turns(text: &str) -> Result<u32, String> {
    let number = text.parse().map_err(|_| format!("`maxTurns` is `{text}`; give a number"))?;
    parse_turns(number)
}

fn parse_page_flag(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| format!("`background` is `{text}`; write true or false"))
}

fn parse_page_mode(name: &str) -> Result<PermissionMode, String> {
    permission_settings::parse_mode(name).map_err(|error| error.to_string())
}
