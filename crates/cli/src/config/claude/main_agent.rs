//! `--agent NAME`: the conversation itself is run as an agent. The agent becomes flags, so that it
//! applies wherever flags do; flags that were typed override it.

use anyhow::bail;
use windlass::tools::GENERAL_PURPOSE_AGENT;

use crate::args::{AgentArgs, EffortArg};
use crate::config::claude::agent_files;
use crate::config::claude::agent_spec::AgentSpec;
use crate::config::claude::permission_settings;
use crate::config::command_tools::CommandTools;
use crate::config::trust::folder_trust::FolderTrust;
use crate::config::{config_toml, paths, plugins};
use crate::{messages, toolset};

/// Replaces `--agent` by what the agent defines.
pub(crate) fn apply_main_agent(args: &mut AgentArgs) -> anyhow::Result<()> {
    let Some(name) = args.agents.agent.take() else { return Ok(()) };
    let workspace = paths::resolve_folder(&args.permissions.workspace, "--workspace")?;
    let agents = known_agents(args, &workspace)?;
    let named = agents.iter().find(|agent| agent.name == name);
    if named.is_none() && name == GENERAL_PURPOSE_AGENT {
        // The built-in agent has the tools and the instructions of the conversation itself.
        return Ok(());
    }
    let Some(agent) = named else {
        let names = agents.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>();
        bail!(messages::unknown_agent(&name, &names));
    };
    let prompt = &mut args.prompt.system_prompt;
    prompt.get_or_insert_with(|| messages::agent_system_prompt(&agent.prompt, &workspace));
    restrict_tools(args, agent);
    if args.model.script.is_none() && args.model.model.is_none() {
        args.model.model.clone_from(&agent.model);
    }
    args.model.effort = args.model.effort.or(agent.effort.map(EffortArg::from));
    args.limits.max_turns = args.limits.max_turns.or(agent.max_turns);
    let mode = agent.permission_mode.map(permission_settings::mode_name);
    let mode = mode.filter(|_| !args.permissions.dangerously_skip_permissions);
    args.permissions.permission_mode =
        args.permissions.permission_mode.take().or(mode.map(str::to_owned));
    Ok(())
}

/// The agents that can be named: those of files, and the given ones, which override them.
fn known_agents(args: &AgentArgs, workspace: &std::path::Path) -> anyhow::Result<Vec<AgentSpec>> {
    let reads = |source: &str| args.permissions.reads_source(source);
    let folder = FolderTrust::load(workspace, reads)?;
    let (trust, plugins) = (folder.trust, plugins::load_plugins(&args.permissions, &folder)?);
    // An agent may name command tools.
    CommandTools::load(&config_toml::read()?, workspace, trust, reads)?;
    let files = agent_files::list_agent_files(reads, workspace, trust, &plugins);
    Ok(agent_files::load_agents(&files).with_given(&args.agents.given).found)
}

/// Limits the tools to those of the agent. Names of tools that do not exist here are left out: the
/// list is that of another program, too.
fn restrict_tools(args: &mut AgentArgs, agent: &AgentSpec) {
    if let Some(tools) = &agent.tools {
        let names = tools.iter().map(|tool| permission_settings::rule_tool(tool));
        let names = names.filter(|name| toolset::selectable_tools().any(|known| known == *name));
        let typed = args.permissions.tools.as_deref().filter(|typed| typed.trim() != "default");
        let is_typed = |name: &&str| {
            let names = typed.map(|typed| typed.split([',', ' ']));
            names.is_none_or(|mut names| names.any(|t| toolset::canonical_tool_name(t) == *name))
        };
        args.permissions.tools = Some(names.filter(is_typed).collect::<Vec<_>>().join(","));
    }
    args.permissions.deny.extend(agent.disallowed.iter().cloned());
}
