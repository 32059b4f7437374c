//! Agents that people wrote down for their children to be: `agents/*.md` beside their settings, each
//! with a name, what it is for, perhaps tools and a model, and what it is told.

use std::path::Path;

use windlass::core::settings::Effort;

use super::config_file::{ConfigFile, Owner, list};
use super::front::Page;
use super::settings_check::SettingsFindings;
use super::trust::{Trust, is_users_own};
use super::{page_check, paths};

/// Bytes of one file.
const FILE_BYTES: u64 = 256 << 10;

/// Agents that are read at most.
const MOST_AGENTS: usize = 100;

/// An agent as its file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileAgent {
    /// What tasks call it.
    pub(crate) name: String,
    /// When it is the one to ask.
    pub(crate) about: String,
    /// The tools it has, of those its parent has; all of them if not said.
    pub(crate) tools: Option<Vec<String>>,
    /// Tools that it does not have, whatever its parent has.
    pub(crate) disallowed: Vec<String>,
    /// The model it asks; its parent's if not said.
    pub(crate) model: Option<String>,
    /// How hard it tries; as hard as its parent if not said.
    pub(crate) effort: Option<Effort>,
    /// What it is told.
    pub(crate) prompt: String,
}

/// The agents in force, and what is wrong with files that are left out.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    pub(crate) found: Vec<FileAgent>,
    pub(crate) problems: Vec<String>,
    /// What the heads say, each with its file and line.
    pub(crate) findings: SettingsFindings,
}

/// The files that agents are read from, the strongest last. Those of an untrusted folder do not
/// count.
pub(crate) fn files(
    reads: impl Fn(&str) -> bool,
    workspace: &Path,
    trust: Trust,
) -> Vec<ConfigFile> {
    let user = paths::shared_settings().filter(|_| reads("user"));
    let user = user.map(|folder| pages(&folder, "agents", Owner::User)).unwrap_or_default();
    let counts = trust == Trust::Given && reads("project") && !is_users_own(workspace);
    let project = match counts {
        true => pages(workspace, ".claude/agents", Owner::Project),
        false => Vec::new(),
    };
    user.into_iter().chain(project).collect()
}

/// Reads the agents of these files.
pub(crate) fn all(files: &[ConfigFile]) -> Agents {
    let mut agents = Agents::default();
    for file in files {
        let (agent, findings) = read(file);
        agents.findings.extend_in(&file.path(), findings);
        match agent {
            Ok(agent) => {
                agents.found.retain(|known| known.name != agent.name);
                agents.found.push(agent);
            }
            Err(why) => {
                agents.problems.push(format!("{} is left out: {why}", file.path().display()));
            }
        }
    }
    agents.found.truncate(MOST_AGENTS);
    agents
}

/// What each agent of a project asks for beyond its text, one line each.
pub(crate) fn granting(workspace: &Path) -> Vec<String> {
    let found = all(&pages(workspace, ".claude/agents", Owner::Project)).found;
    let grants = |agent: &FileAgent| {
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

fn pages(folder: &Path, sub: &str, owner: Owner) -> Vec<ConfigFile> {
    let mut files = list(folder, Path::new(sub), owner, 1, MOST_AGENTS);
    files.retain(|file| file.name().extension().is_some_and(|ext| ext == "md"));
    files
}

/// The agent of a file, and what is to be said of the file's head.
fn read(file: &ConfigFile) -> (Result<FileAgent, String>, SettingsFindings) {
    let page = file.read(FILE_BYTES).map_err(|why| format!("it {why}"));
    let page = page.and_then(|text| Page::read(&text.ok_or("it is gone")?));
    match page {
        Ok(page) => (agent_of(&page), page_check::check_agent(&page)),
        Err(why) => (Err(why), SettingsFindings::default()),
    }
}

fn agent_of(page: &Page) -> Result<FileAgent, String> {
    let name = page.get("name").ok_or("the front matter lacks `name`")?;
    if !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':')) {
        return Err(format!("the name `{name}` may have letters, digits, `-` and `_` only"));
    }
    let about = page.get("description");
    let about =
        about.ok_or("the front matter lacks `description`; say when the agent is to be used")?;
    if page.body.is_empty() {
        return Err("there is nothing below its head; say what the agent is told".to_owned());
    }
    Ok(FileAgent {
        name: name.to_owned(),
        about: about.to_owned(),
        tools: page.list("tools").filter(|tools| !tools.iter().any(|tool| tool == "*")),
        disallowed: page.list("disallowedTools").unwrap_or_default(),
        model: page.get("model").filter(|model| *model != "inherit").map(str::to_owned),
        effort: page.get("effort").map(effort).transpose()?,
        prompt: page.body.clone(),
    })
}

fn effort(word: &str) -> Result<Effort, String> {
    let efforts = "low, medium, high, xhigh or max";
    Effort::named(word).ok_or_else(|| format!("its effort is `{word}`; write {efforts}"))
}
