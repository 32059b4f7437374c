//! The agents that a folder defines, as sub-agents of its runs.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use windlass::tools::{CommandHooks, GitWorktrees};
use windlass::{AgentDefinition, ToolRegistry, Windlass, WindlassBuilder};

use super::ModelNeed;
use crate::args::AgentArgs;
use crate::config::claude::agent_files::{self, LoadedAgents};
use crate::config::claude::agent_spec::{AgentIsolation, AgentSpec};
use crate::config::claude::custom_commands::{self, CustomCommand};
use crate::config::claude::hook_config::AgentHooks;
use crate::config::claude::settings_sources;
use crate::config::claude::skills::Skills;
use crate::config::config_toml::Config;
use crate::config::model_selection;
use crate::config::plugins::Plugin;
use crate::config::trust::folder_trust::{FolderTrust, TrustState};
use crate::exit::OrUsageError;
use crate::{messages, terminal, toolset};

/// Reads the agent files, and reports what is wrong with them.
pub(super) fn load_agents(
    args: &AgentArgs,
    workspace: &Path,
    trust: TrustState,
    plugins: &[Arc<Plugin>],
) -> anyhow::Result<LoadedAgents> {
    let reads = |source: &str| args.permissions.reads_source(source);
    let files = agent_files::list_agent_files(reads, workspace, trust, plugins);
    let agents = agent_files::load_agents(&files).with_given(&args.agents.given);
    agents.problems.iter().for_each(|problem| terminal::print_note(&messages::warning(problem)));
    settings_sources::report_page_findings(&args.permissions, "agent file", &agents.findings)
        .or_usage_error()?;
    Ok(agents)
}

/// Loads the skills, and reports what is wrong with others.
pub(super) fn load_skills(
    args: &AgentArgs,
    folder: &FolderTrust,
    plugins: &[Arc<Plugin>],
) -> Skills {
    let skills = Skills::load(args, &folder.folder, folder.trust, plugins);
    skills.problems.iter().for_each(|problem| terminal::print_note(&messages::warning(problem)));
    skills
}

/// Loads the custom commands.
pub(super) fn load_commands(
    args: &AgentArgs,
    folder: &FolderTrust,
    plugins: &[Arc<Plugin>],
) -> Vec<CustomCommand> {
    custom_commands::load_commands(&args.permissions, &folder.folder, folder.trust, plugins)
}

/// Reports what is wrong with a definition that is used nevertheless.
fn report_problem(problem: &str) {
    terminal::print_note(&messages::warning(problem));
}

/// A sub-agent as its file describes it.
fn agent_definition(
    (agent, every_tool): (&AgentSpec, &[Arc<str>]),
    (skills, hooks): (&Skills, Option<CommandHooks>),
    args: &AgentArgs,
    (config, asks): (&Config, ModelNeed),
    (workspace, clock): (&Path, &Arc<dyn windlass::ports::Clock>),
) -> anyhow::Result<AgentDefinition> {
    let text = match agent.isolation {
        AgentIsolation::Shared => messages::agent_system_prompt(&agent.prompt, workspace),
        // It is told where its worktree is when that has been made.
        AgentIsolation::Worktree => agent.prompt.clone(),
    };
    let text = [text].into_iter().chain(skills.instructions(&agent.skills, report_problem));
    let text: Vec<String> = text.collect();
    let hook_ms = hooks.as_ref().map(CommandHooks::max_timeout_ms);
    let mut definition = AgentDefinition::new(&agent.description).system_prompt(&text.join("\n\n"));
    if let Some(names) = agent.tool_names(every_tool) {
        definition = definition.tools(&names);
    }
    if let Some(hooks) = hooks {
        definition = definition.hooks(hooks);
    }
    let hook_ms = hook_ms.unwrap_or_default();
    let model = agent.model.as_deref().filter(|_| asks == ModelNeed::Required);
    let model = model.map(|name| model_selection::agent_model(name, &args.model, config, clock));
    let model =
        model.transpose().with_context(|| messages::unknown_agent_model(&agent.name))?.flatten();
    let (effort, max_turns, mode) = (agent.effort, agent.max_turns, agent.permission_mode);
    Ok(definition.settings(move |settings| {
        settings.limits.hook_ms = settings.limits.hook_ms.max(hook_ms);
        if let Some(model) = model {
            settings.model = model;
        }
        settings.thinking.effort = effort.or(settings.thinking.effort);
        if let Some(turns) = max_turns {
            settings.limits = settings.limits.clone().with_tool_rounds(turns);
        }
        settings.rules.mode = mode.unwrap_or(settings.rules.mode);
    }))
}

/// Begins a builder with the sub-agents that are offered.
pub(super) fn add_sub_agents(
    offered: Vec<AgentSpec>,
    tools: &ToolRegistry,
    args: &AgentArgs,
    known: (&Config, ModelNeed),
    place: (&Path, &Arc<dyn windlass::ports::Clock>),
    (skills, hooks, worktrees): (&Skills, &AgentHooks<'_>, Option<&GitWorktrees>),
) -> anyhow::Result<WindlassBuilder> {
    let every_tool: Vec<Arc<str>> = tools.specs().iter().map(|tool| tool.name.clone()).collect();
    let mut builder = Windlass::builder();
    for agent in offered {
        let own = (skills, hooks.of_agent(&agent).or_usage_error()?);
        let definition = agent_definition((&agent, &every_tool), own, args, known, place);
        let definition = definition.or_usage_error()?;
        let definition = if agent.background { definition.in_background() } else { definition };
        let own = worktrees.filter(|_| agent.isolation == AgentIsolation::Worktree);
        let definition = match own {
            Some(worktrees) => definition.in_worktree(worktrees.clone()),
            None => definition,
        };
        builder = builder.sub_agent(&agent.name, definition);
    }
    Ok(builder)
}

/// The sub-agents, as programs list them.
pub(crate) struct AgentListing {
    /// Their names, if the agent tool is offered.
    pub(crate) names: Vec<String>,
    /// What they are for, by their names.
    pub(crate) descriptions: BTreeMap<String, String>,
}

impl AgentListing {
    pub(super) fn of(tools: &ToolRegistry, agents: &[AgentSpec]) -> Self {
        let described = |agent: &AgentSpec| (agent.name.clone(), agent.description.clone());
        let descriptions = agents.iter().map(described).collect();
        Self { names: agent_names(tools, agents), descriptions }
    }
}

/// The names of the sub-agents, if the agent tool is offered.
fn agent_names(tools: &ToolRegistry, agents: &[AgentSpec]) -> Vec<String> {
    let names = || agents.iter().map(|agent| agent.name.clone()).collect();
    tools.get(toolset::AGENT_TOOL).map_or_else(Vec::new, |_| names())
}
