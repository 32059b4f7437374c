//! Agents that people wrote down for their children to be: `agents/*.md` beside their settings, each
//! with a name, what it is for, perhaps tools and a model, and what it is told.

use std::io::Read;
use std::path::{Path, PathBuf};

use windlass::core::settings::Effort;

use super::front::Page;
use super::paths;
use super::trust::Trust;

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
}

/// The folders that agents are read from, the strongest last. Those of a folder that nobody trusts
/// do not count.
pub(crate) fn folders(
    reads: impl Fn(&str) -> bool,
    workspace: &Path,
    trust: Trust,
) -> Vec<PathBuf> {
    let user = paths::shared_settings().filter(|_| reads("user"));
    let project = (trust == Trust::Given && reads("project")).then(|| workspace.join(".claude"));
    user.into_iter().chain(project).map(|folder| folder.join("agents")).collect()
}

/// Reads the agents of these folders.
pub(crate) fn all(folders: &[PathBuf]) -> Agents {
    let mut agents = Agents::default();
    for path in folders.iter().flat_map(|folder| pages(folder)) {
        match read(&path) {
            Ok(agent) => {
                agents.found.retain(|known| known.name != agent.name);
                agents.found.push(agent);
            }
            Err(why) => agents.problems.push(format!("{} is left out: {why}", path.display())),
        }
    }
    agents.found.truncate(MOST_AGENTS);
    agents
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let Ok(files) = std::fs::read_dir(folder) else { return Vec::new() };
    let files = files.filter_map(Result::ok).map(|file| file.path());
    let is_page = |path: &PathBuf| path.extension().is_some_and(|ext| ext == "md");
    let mut pages: Vec<PathBuf> = files.filter(is_page).collect();
    pages.sort();
    pages
}

fn read(path: &Path) -> Result<FileAgent, String> {
    let page = Page::read(&text(path)?)?;
    let name = page.get("name").ok_or("its head has no `name`; give it one")?;
    if !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':')) {
        return Err(format!("the name `{name}` may have letters, digits, `-` and `_` only"));
    }
    let about = page.get("description");
    let about = about.ok_or("its head has no `description`; say when the agent is to be used")?;
    if page.body.is_empty() {
        return Err("there is nothing below its head; say what the agent is told".to_owned());
    }
    Ok(FileAgent {
        name: name.to_owned(),
        about: about.to_owned(),
        tools: page.list("tools").filter(|tools| !tools.iter().any(|tool| tool == "*")),
        model: page.get("model").filter(|model| *model != "inherit").map(str::to_owned),
        effort: page.get("effort").map(effort).transpose()?,
        prompt: page.body.clone(),
    })
}

fn effort(word: &str) -> Result<Effort, String> {
    let efforts = "low, medium, high, xhigh or max";
    Effort::named(word).ok_or_else(|| format!("its effort is `{word}`; write {efforts}"))
}

fn text(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    match file.take(FILE_BYTES + 1).read_to_string(&mut text) {
        Ok(_) if text.len() as u64 <= FILE_BYTES => Ok(text),
        Ok(_) => Err(format!("it is larger than {} KiB", FILE_BYTES >> 10)),
        Err(error) => Err(format!("it cannot be read: {error}")),
    }
}
