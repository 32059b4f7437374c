//! The tools of a conversation: the standard set, filtered by `--tools` and rules.

use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use windlass::ToolRegistry;
use windlass::core::guard::completion_gate::StructuredOutputTool;
use windlass::core::message::loaded_tools::TOOL_SEARCH;
use windlass::core::message::prompt_texts;
use windlass::core::permission::{PermissionMode, Permissions};
use windlass::ports::Clock;
use windlass::tools::{
    AgentTool, ExitPlanModeTool, JournalTool, PathZones, SpawnChildRunsTool, StructuredOutput,
    ToolContext, ToolSearchTool, files_run_by, select_standard_tools, standard_tool_names,
    with_long_results,
};

use crate::args::{AgentArgs, PermissionArgs, ToolStatePolicy};
use crate::config::claude::agent_spec::AgentSpec;
use crate::config::claude::mcp_servers;
use crate::config::claude::settings_sources::SettingsSource;
use crate::config::claude::skills::Skills;
use crate::config::command_tools::{self, CommandTools};
use crate::config::paths;
use crate::config::sandbox_settings::SandboxChoice;
use crate::config::web_tools::{FETCH_TOOL, SEARCH_TOOL, WebConfig};

/// The name of the tool that starts sub-agents.
pub(crate) const AGENT_TOOL: &str = "Agent";

/// Other names of tools that people use.
const TOOL_ALIASES: [(&str, &str); 6] = [
    ("Task", AGENT_TOOL),
    ("ask_human", "AskUserQuestion"),
    ("BashOutput", "TaskOutput"),
    ("AgentOutput", "TaskOutput"),
    ("KillShell", "TaskStop"),
    ("KillBash", "TaskStop"),
];

/// Other names of tools.
pub(crate) fn other_tool_names() -> impl Iterator<Item = &'static str> {
    TOOL_ALIASES.iter().map(|(also, _)| *also)
}

/// The canonical name of a tool.
pub(crate) fn canonical_tool_name(name: &str) -> &str {
    TOOL_ALIASES.iter().find(|(also, _)| *also == name).map_or(name, |(_, tool)| *tool)
}

/// Every tool name that a rule can have, in order.
pub(crate) fn all_tool_names() -> impl Iterator<Item = &'static str> {
    let more = [AGENT_TOOL, JOURNAL_TOOLS, SKILL_TOOL, FETCH_TOOL, SEARCH_TOOL];
    let more = more.into_iter().chain([TOOL_SEARCH, "spawn_child_runs", StructuredOutput::NAME]);
    let journal = JournalTool::all().into_iter().map(JournalTool::name);
    let added = command_tools::known_names();
    standard_tool_names().chain(more).chain(journal).chain(added)
}

/// The name of the tool that loads skills.
const SKILL_TOOL: &str = "Skill";

/// The name that selects the tools of the run journal.
const JOURNAL_TOOLS: &str = "Journal";

/// What is added to the built-in tools.
pub(crate) struct AddedTools<'a> {
    /// The sub-agents.
    pub(crate) agents: &'a [AgentSpec],
    /// The command tools.
    pub(crate) programs: &'a CommandTools,
    /// The skills.
    pub(crate) skills: &'a Skills,
    /// How the web is used, and the clock by which.
    pub(crate) web: (&'a WebConfig, &'a Arc<dyn Clock>),
}

/// Builds the registry of the offered tools.
pub(crate) fn build_tools(
    args: &AgentArgs,
    rules: &Permissions,
    added: &AddedTools<'_>,
    workplace: &ToolContext,
) -> anyhow::Result<ToolRegistry> {
    let names = select_tools(args.permissions.tools.as_deref())?;
    // A tool that is always denied is not offered either.
    let blocked = |name: &&str| {
        rules.disallowed.iter().any(|rule| rule.is_unscoped() && rule.covers_tool(name))
    };
    let names: Vec<&str> = names.into_iter().filter(|name| !blocked(name)).collect();
    let mut tools = select_standard_tools(workplace, names.iter().copied());
    let programs = added.programs.registry(workplace);
    tools = tools.merge(programs.filter(|name| names.contains(&name)));
    if names.contains(&AGENT_TOOL) {
        let (mut one, mut several) = (AgentTool::default(), SpawnChildRunsTool::default());
        for agent in added.agents {
            one = one.with(&agent.name, &agent.description);
            several = several.with(&agent.name, &agent.description);
        }
        tools = tools.with(one).with(several);
    }
    let (web, clock) = added.web;
    let web = web.registry(clock, |name| names.contains(&name))?;
    tools = tools.merge(with_long_results(&web, workplace));
    let agents = added.agents.iter().map(|agent| agent.name.clone());
    let agents = names.contains(&AGENT_TOOL).then(|| agents.collect());
    if let Some(skills) = added.skills.tool(rules, agents).filter(|_| names.contains(&SKILL_TOOL)) {
        tools = tools.with(skills);
    }
    if names.contains(&JOURNAL_TOOLS) {
        tools = JournalTool::all().into_iter().fold(tools, ToolRegistry::with);
    }
    if rules.mode == PermissionMode::Plan && !blocked(&prompt_texts::EXIT_PLAN_MODE) {
        tools = tools.with(ExitPlanModeTool);
    }
    if let Some(schema) = &args.prompt.json_schema {
        tools = tools.with(StructuredOutput::new(schema)?);
    }
    Ok(tools)
}

/// Returns the tools without those that are always denied.
pub(crate) fn without_denied(tools: &ToolRegistry, rules: &Permissions) -> ToolRegistry {
    tools.filter(|name| !is_denied(name, rules))
}

/// Adds the search for tools of MCP servers. The core offers it when there is something to find.
pub(crate) fn with_tool_search(tools: ToolRegistry, rules: &Permissions) -> ToolRegistry {
    match is_denied(TOOL_SEARCH, rules) {
        true => tools,
        false => tools.with(ToolSearchTool),
    }
}

fn is_denied(name: &str, rules: &Permissions) -> bool {
    rules.disallowed.iter().any(|rule| rule.is_unscoped() && rule.covers_tool(name))
}

/// Adds the tools that a run may bring along with its prompt: they are offered to no other run.
pub(crate) fn with_reserves(tools: ToolRegistry, args: &AgentArgs) -> anyhow::Result<ToolRegistry> {
    // The answer of a run is checked against the schema given with its prompt.
    let schema = args.prompt.json_schema.as_deref();
    let output =
        schema.map_or_else(|| Ok(StructuredOutput::of_any_object()), StructuredOutput::new);
    Ok(tools.with_reserve(ExitPlanModeTool).with_reserve(output?))
}

/// The tool for an answer that must match a schema.
pub(crate) fn structured_output(args: &AgentArgs) -> Option<StructuredOutputTool> {
    args.prompt.json_schema.as_ref().map(|_| StructuredOutput::output_setting())
}

/// Builds the path zones of a workspace.
pub(crate) fn build_zones(
    args: &PermissionArgs,
    workspace: &Path,
    sources: &[SettingsSource],
    programs: &CommandTools,
) -> anyhow::Result<PathZones> {
    let mut zones = PathZones::new(workspace);
    for folder in &args.add_dir {
        zones = zones.with_folder(&paths::resolve_folder(folder, "--add-dir")?);
    }
    let added = sources.iter().flat_map(|source| &source.permissions.additional_directories);
    // A folder of a settings file that no longer exists is not an error.
    for folder in added.filter_map(|folder| workspace.join(folder).canonicalize().ok()) {
        zones = zones.with_folder(&folder);
    }
    // What a plugin brings was approved as it is.
    for plugin in sources.iter().filter_map(|source| source.plugin.as_ref()) {
        zones = zones.with_protected_folder(&plugin.root);
    }
    // Protected: a script that a hook runs decides what runs at the very next call. Helpers and
    // servers are run by other agents that use the same files.
    let servers = mcp_servers::commands(workspace);
    let programs = programs.command_lines();
    let texts = sources.iter().flat_map(SettingsSource::commands);
    let texts = texts.chain(servers.iter().chain(&programs).map(String::as_str));
    let scripts: Vec<_> = texts.flat_map(|text| files_run_by(text, &zones)).collect();
    Ok(scripts.iter().fold(zones, |zones, script| zones.keeping_file(script)))
}

/// Builds the tool context of a workspace.
pub(crate) fn build_workplace(
    args: &AgentArgs,
    workspace: &Path,
    sources: &[SettingsSource],
    programs: &CommandTools,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<(ToolContext, SandboxChoice)> {
    let zones = build_zones(&args.permissions, workspace, sources, programs)?;
    let sandbox = SandboxChoice::resolve(&args.permissions, &args.store, (sources, &zones))?;
    let variables = sources.iter().flat_map(|source| source.env.clone());
    let variables = variables.chain(sandbox.ssh_agent_variable());
    let workplace =
        ToolContext::with_zones(zones).with_clock(Arc::clone(clock)).with_variables(variables);
    let workplace = workplace.with_launcher(sandbox.launcher());
    let workplace = match paths::state_folder() {
        Ok(_) if args.tool_state == ToolStatePolicy::Discarded => workplace,
        Ok(state) if paths::can_be_written(&state) => {
            workplace.with_state_folder(paths::tool_state_folder(&state))
        }
        // Otherwise tools keep their state in this process only: without any, no file could be
        // edited.
        Ok(_) | Err(_) => workplace,
    };
    Ok((workplace, sandbox))
}

/// The names that `--tools` knows.
pub(crate) fn selectable_tools() -> impl Iterator<Item = &'static str> {
    let own = [AGENT_TOOL, JOURNAL_TOOLS, SKILL_TOOL, FETCH_TOOL, SEARCH_TOOL];
    standard_tool_names().chain(own).chain(command_tools::known_names())
}

/// Resolves the typed tool names: `default` means all.
fn select_tools(list: Option<&str>) -> anyhow::Result<Vec<&'static str>> {
    let all = selectable_tools;
    let Some(list) = list.filter(|list| list.trim() != "default") else {
        return Ok(all().collect());
    };
    let mut names = Vec::new();
    for typed in list.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty()) {
        match all().find(|name| *name == canonical_tool_name(typed)) {
            Some(name) => names.push(name),
            None => {
                let known = all().collect::<Vec<_>>().join(", ");
                bail!("unknown tool {typed}; available: {known}");
            }
        }
    }
    Ok(names)
}
