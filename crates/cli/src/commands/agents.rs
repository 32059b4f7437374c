//! `windlass agents`: the sub-agents of a folder, where they come from, and what is wrong with others.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::args::{AgentsArgs, AgentsCommand, PermissionArgs};
use crate::config::claude::agent_files::{self, LoadedAgents};
use crate::config::claude::agent_spec::{AgentSource, AgentSpec};
use crate::config::claude::permission_settings;
use crate::config::command_tools::CommandTools;
use crate::config::trust::folder_trust::{FolderTrust, TrustState};
use crate::config::{config_toml, paths, plugins};
use crate::exit::OrUsageError;
use crate::{messages, terminal};

pub(crate) fn run(args: &AgentsArgs) -> anyhow::Result<ExitCode> {
    let (agents, trust) = load(args).or_usage_error()?;
    match &args.command {
        None | Some(AgentsCommand::List { json: false }) => print_list(&agents, trust),
        Some(AgentsCommand::List { json: true }) => {
            let found: Vec<Value> = agents.found.iter().map(to_json).collect();
            let hidden: Vec<Value> = agents.hidden.iter().map(to_json).collect();
            let all = json!({"agents": found, "hidden": hidden, "errors": errors(&agents)});
            terminal::print_line(&all.to_string());
        }
        Some(AgentsCommand::Show { name, json }) => {
            let known = || agents.found.iter();
            let Some(agent) = known().find(|agent| agent.name == *name) else {
                let names: Vec<&str> = known().map(|agent| agent.name.as_str()).collect();
                return Err(anyhow::anyhow!(messages::unknown_agent(name, &names)))
                    .or_usage_error();
            };
            match json {
                true => terminal::print_line(&to_json(agent).to_string()),
                false => messages::agent_lines(agent).iter().for_each(|line| print_safe(line)),
            }
        }
    }
    let healthy = agents.problems.is_empty() && agents.findings.errors.is_empty();
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The agents that a run in the folder would have.
fn load(args: &AgentsArgs) -> anyhow::Result<(LoadedAgents, TrustState)> {
    let permissions = PermissionArgs {
        workspace: args.workspace.clone(),
        plugins: args.plugins.clone(),
        setting_sources: args.setting_sources.clone(),
        ..PermissionArgs::default()
    };
    let workspace = paths::resolve_folder(&permissions.workspace, "--workspace")?;
    let reads = |source: &str| permissions.reads_source(source);
    let folder = FolderTrust::load(&workspace, reads)?;
    let plugins = plugins::load_plugins(&permissions, &folder)?;
    // An agent may name command tools.
    CommandTools::load(&config_toml::read()?, &workspace, folder.trust, reads)?;
    let files = agent_files::list_agent_files(reads, &workspace, folder.trust, &plugins);
    Ok((agent_files::load_agents(&files), folder.trust))
}

fn print_list(agents: &LoadedAgents, trust: TrustState) {
    if agents.found.is_empty() {
        terminal::print_line(messages::NO_AGENTS);
    }
    agents.found.iter().for_each(|agent| print_safe(&messages::agent_line(agent)));
    agents.hidden.iter().for_each(|agent| print_safe(&messages::hidden_agent_line(agent)));
    errors(agents).iter().for_each(|error| print_safe(&messages::agent_error(error)));
    let is_text = |agent: &AgentSpec| matches!(agent.source, AgentSource::ProjectFile(_));
    if trust == TrustState::Untrusted && agents.found.iter().any(is_text) {
        terminal::print_note(messages::AGENTS_ARE_TEXT);
    }
}

fn errors(agents: &LoadedAgents) -> Vec<String> {
    agents.problems.iter().chain(&agents.findings.errors).cloned().collect()
}

fn to_json(agent: &AgentSpec) -> Value {
    let (source, path) = match &agent.source {
        AgentSource::Given => ("given", None),
        AgentSource::UserFile(path) => ("user", Some(path)),
        AgentSource::ProjectFile(path) => ("project", Some(path)),
        AgentSource::PluginFile(path) => ("plugin", Some(path)),
    };
    json!({
        "name": agent.name,
        "description": agent.description,
        "source": source,
        "path": path,
        "tools": agent.tools,
        "disallowed_tools": agent.disallowed,
        "model": agent.model,
        "effort": agent.effort,
        "max_turns": agent.max_turns,
        "permission_mode": agent.permission_mode.map(permission_settings::mode_name),
        "background": agent.background,
        "skills": agent.skills,
        "mcp_servers": agent.mcp_servers,
        "hooks": agent.hooks,
        "prompt": agent.prompt,
    })
}

fn print_safe(text: &str) {
    terminal::print_line(&terminal::sanitize_text(text));
}
