//! Sentences about sub-agents.

use windlass::core::log::ids::LaneId;

use super::shell_word;
use crate::config::claude::agent_spec::{AgentIsolation, AgentSource, AgentSpec};
use crate::config::claude::permission_settings;
use crate::config::trust::project_grants::hook_lines;
use crate::terminal::to_one_line;

/// Maximum characters of a description in a list.
const MAX_DESCRIPTION_CHARS: usize = 200;

pub(crate) const NO_AGENTS: &str =
    "There are no agents here; describe one in .claude/agents/NAME.md.";

pub(crate) const AGENTS_ARE_TEXT: &str = "windlass: this folder is not trusted: its agents have their prompt and tools, but no model, mode, limits or hooks of their own; see `windlass trust`";

/// An agent, on one line.
pub(crate) fn agent_line(agent: &AgentSpec) -> String {
    let what = one_line(&agent.description);
    format!("{}  {what}  ({})", agent.name, agent_source(&agent.source))
}

/// An agent that another one of the same name replaces.
pub(crate) fn hidden_agent_line(agent: &AgentSpec) -> String {
    let source = agent_source(&agent.source);
    format!("{}  replaced by the one above  ({source})", agent.name)
}

/// What is wrong with an agent that is left out.
pub(crate) fn agent_error(error: &str) -> String {
    format!("error: {error}")
}

/// Everything about an agent, one line each.
pub(crate) fn agent_lines(agent: &AgentSpec) -> Vec<String> {
    let mut lines = vec![agent.name.clone(), one_line(&agent.description)];
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            lines.push(format!("  {name:<12} {value}"));
        }
    };
    add("source", Some(agent_source(&agent.source)));
    add(
        "tools",
        Some(agent.tools.as_ref().map_or_else(|| "all".to_owned(), |tools| tools.join(", "))),
    );
    add("without", Some(agent.disallowed.join(", ")));
    add("MCP servers", agent.mcp_servers.as_ref().map(|servers| servers.join(", ")));
    add("skills", Some(agent.skills.join(", ")));
    add("model", Some(agent.model.clone().unwrap_or_else(|| "that of its parent".to_owned())));
    add("effort", agent.effort.map(|effort| format!("{effort:?}").to_lowercase()));
    add("max turns", agent.max_turns.map(|turns| turns.to_string()));
    add("mode", agent.permission_mode.map(|mode| permission_settings::mode_name(mode).to_owned()));
    add("background", agent.background.then(|| "yes".to_owned()));
    let is_isolated = agent.isolation == AgentIsolation::Worktree;
    add("isolation", is_isolated.then(|| "a git worktree of its own".to_owned()));
    if agent.hooks.is_object() {
        hook_lines(&agent.hooks).into_iter().for_each(|hook| add("hook", Some(hook)));
    }
    lines.push(String::new());
    lines.extend(agent.prompt.lines().map(str::to_owned));
    lines
}

fn agent_source(source: &AgentSource) -> String {
    match source {
        AgentSource::Given => "given with --agents".to_owned(),
        AgentSource::UserFile(path)
        | AgentSource::ProjectFile(path)
        | AgentSource::PluginFile(path) => path.display().to_string(),
    }
}

fn one_line(text: &str) -> String {
    to_one_line(text, MAX_DESCRIPTION_CHARS).to_string()
}

/// Why an isolated sub-agent does not start in this folder.
pub(crate) const WORKTREES_NEED_TRUST: &str = "a git worktree is made in a trusted folder only, because git runs programs that the repository configures; run `windlass trust .` first";

/// The answer is there, and sub-agents still work.
pub(crate) fn waiting_for_background_agents(count: usize) -> String {
    match count {
        1 => "windlass: waiting for a sub-agent in the background".to_owned(),
        count => format!("windlass: waiting for {count} sub-agents in the background"),
    }
}

/// The process ends before its sub-agents have returned.
pub(crate) fn background_agents_left(lane: &LaneId) -> String {
    let word = shell_word(lane);
    format!(
        "windlass: sub-agents in the background are not finished; `windlass resume {word}` continues them"
    )
}
