//! Sub-agent definitions: `agents/*.md` in the settings folder, each with a name, a description,
//! perhaps tools and a model in its front matter, and a system prompt.

use std::path::Path;

use windlass::core::settings::conversation_settings::Effort;

use crate::config::claude::config_file::{ConfigFile, FileOwner, list_files};
use crate::config::claude::front_matter::MarkdownPage;
use crate::config::claude::page_check;
use crate::config::claude::settings_check::SettingsFindings;
use crate::config::paths;
use crate::config::trust::folder_trust::{TrustState, is_user_folder};

/// Maximum size of one file in bytes.
const MAX_FILE_BYTES: u64 = 256 << 10;

/// Maximum number of agents that are read.
const MAX_AGENTS: usize = 100;

/// A sub-agent definition as its file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentFile {
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
    /// The agent's system prompt.
    pub(crate) prompt: String,
}

/// The agents in force, and what is wrong with files that are left out.
#[derive(Debug, Default)]
pub(crate) struct LoadedAgents {
    pub(crate) found: Vec<AgentFile>,
    pub(crate) problems: Vec<String>,
    /// Findings in the front matter, each with its file and line.
    pub(crate) findings: SettingsFindings,
}

/// Lists the files that agents are read from, the one with the highest precedence last. Those of an
/// untrusted folder are left out.
pub(crate) fn list_agent_files(
    reads: impl Fn(&str) -> bool,
    workspace: &Path,
    trust: TrustState,
) -> Vec<ConfigFile> {
    let user = paths::user_settings_folder().filter(|_| reads("user"));
    let user = user
        .map(|folder| list_markdown_files(&folder, "agents", FileOwner::User))
        .unwrap_or_default();
    let counts = trust == TrustState::Trusted && reads("project") && !is_user_folder(workspace);
    let project = match counts {
        true => list_markdown_files(workspace, ".claude/agents", FileOwner::Project),
        false => Vec::new(),
    };
    user.into_iter().chain(project).collect()
}

/// Reads the agents of these files.
pub(crate) fn load_agents(files: &[ConfigFile]) -> LoadedAgents {
    let mut agents = LoadedAgents::default();
    for file in files {
        let (agent, findings) = read_agent(file);
        agents.findings.extend_in(&file.path(), findings);
        match agent {
            Ok(agent) => {
                agents.found.retain(|known| known.name != agent.name);
                agents.found.push(agent);
            }
            Err(reason) => {
                agents.problems.push(format!("{} is ignored: {reason}", file.path().display()));
            }
        }
    }
    agents.found.truncate(MAX_AGENTS);
    agents
}

/// What each agent of a project requests beyond its text, one line each.
pub(crate) fn agent_grants(workspace: &Path) -> Vec<String> {
    let found =
        load_agents(&list_markdown_files(workspace, ".claude/agents", FileOwner::Project)).found;
    let grants = |agent: &AgentFile| {
        let tools = agent.tools.as_ref().map_or("all tools".to_owned(), |tools| tools.join(", "));
        let without = match agent.disallowed.is_empty() {
            true => String::new(),
            false => format!(" without {}", agent.disallowed.join(", ")),
        };
        let model = agent.model.as_ref().map(|model| format!(", model {model}"));
        format!("{}: {tools}{without}{}", agent.name, model.unwrap_or_default())
    };
    found.iter().map(grants).collect()
}

fn list_markdown_files(folder: &Path, sub: &str, owner: FileOwner) -> Vec<ConfigFile> {
    let mut files = list_files(folder, Path::new(sub), owner, 1, MAX_AGENTS);
    files.retain(|file| file.name().extension().is_some_and(|ext| ext == "md"));
    files
}

/// Reads the agent of a file, with the findings in its front matter.
fn read_agent(file: &ConfigFile) -> (Result<AgentFile, String>, SettingsFindings) {
    let page = file.read(MAX_FILE_BYTES).map_err(|error| format!("it {error}"));
    let page = page.and_then(|text| MarkdownPage::parse(&text.ok_or("the file no longer exists")?));
    match page {
        Ok(page) => (agent_of(&page), page_check::check_agent(&page)),
        Err(reason) => (Err(reason), SettingsFindings::default()),
    }
}

fn agent_of(page: &MarkdownPage) -> Result<AgentFile, String> {
    let name = page.get("name").ok_or("the front matter lacks `name`")?;
    if !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':')) {
        return Err(format!("the name `{name}` may have letters, digits, `-` and `_` only"));
    }
    let about = page.get("description");
    let about =
        about.ok_or("the front matter lacks `description`; describe when to use the agent")?;
    if page.body.is_empty() {
        return Err("the file has no prompt text; write it below the front matter".to_owned());
    }
    Ok(AgentFile {
        name: name.to_owned(),
        description: about.to_owned(),
        tools: page.list("tools").filter(|tools| !tools.iter().any(|tool| tool == "*")),
        disallowed: page.list("disallowedTools").unwrap_or_default(),
        model: page.get("model").filter(|model| *model != "inherit").map(str::to_owned),
        effort: page.get("effort").map(parse_effort).transpose()?,
        prompt: page.body.clone(),
    })
}

fn parse_effort(word: &str) -> Result<Effort, String> {
    let efforts = "low, medium, high, xhigh or max";
    Effort::from_name(word).ok_or_else(|| format!("unknown effort `{word}`; use {efforts}"))
}
