//! Where command tools are defined: tables `[tools.NAME]` of `config.toml`, and files `tools/NAME.toml`
//! beside it and in the folder `.windlass` of a project, each with its program beside it.
//!
//! The tools of a project exist only while its folder is trusted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::bail;
use serde_json::{Value, json};
use windlass::ToolRegistry;
use windlass::tools::{CommandTool, CommandToolConfig, CommandToolName, ToolContext};

use crate::config::claude::config_file::{ConfigFile, FileOwner, list_files};
use crate::config::config_toml::Config;
use crate::config::paths;
use crate::config::trust::folder_trust::{TrustState, is_user_folder};

/// Maximum size of one file in bytes.
const MAX_FILE_BYTES: u64 = 256 << 10;

/// Maximum number of files in one folder of tools.
const MAX_FILES: usize = 500;

/// The folder with the tools of a project.
const PROJECT_FOLDER: &str = ".windlass/tools";

/// The folder with the user's tools, beside `config.toml`.
const USER_FOLDER: &str = "tools";

/// The command tools in force, by name.
#[derive(Debug, Default)]
pub(crate) struct CommandTools {
    found: BTreeMap<CommandToolName, FoundTool>,
}

/// A command tool and where it is defined.
#[derive(Debug)]
struct FoundTool {
    config: CommandToolConfig,
    place: PathBuf,
}

impl CommandTools {
    /// Loads the tools that apply in a folder. A file that is not valid is an error: a missing tool
    /// is noticed only by the model.
    pub(crate) fn load(
        config: &Config,
        workspace: &Path,
        trust: TrustState,
        reads: impl Fn(&str) -> bool,
    ) -> anyhow::Result<Self> {
        let mut tools = Self::default();
        let place = paths::config_path().unwrap_or_default();
        for (name, config) in &config.tools {
            tools.add(name.clone(), FoundTool { config: config.clone(), place: place.clone() })?;
        }
        let own = user_files();
        let project = match reads("project") && trust == TrustState::Trusted {
            true => project_files(workspace),
            false => Vec::new(),
        };
        for file in own.iter().chain(&project) {
            let (name, config) = read_tool(file)?;
            tools.add(name, FoundTool { config, place: file.path() })?;
        }
        announce_names(tools.found.keys().map(CommandToolName::as_str));
        // A rule that names a tool of a folder which is not trusted is no mistake.
        let files = project_files(workspace);
        announce_names(files.iter().filter_map(tool_name));
        Ok(tools)
    }

    fn add(&mut self, name: CommandToolName, tool: FoundTool) -> anyhow::Result<()> {
        if let Some(other) = self.found.get(&name) {
            let (one, other) = (tool.place.display(), other.place.display());
            let name = name.as_str();
            bail!("the tool `{name}` is defined in {other} and in {one}; rename one of them");
        }
        self.found.insert(name, tool);
        Ok(())
    }

    /// The names of the tools.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.found.keys().map(CommandToolName::as_str)
    }

    /// The tools, for a workspace.
    pub(crate) fn registry(&self, workplace: &ToolContext) -> ToolRegistry {
        let add = |tools: ToolRegistry, (name, tool): (&CommandToolName, &FoundTool)| {
            tools.with(CommandTool::new(name.clone(), tool.config.clone(), workplace))
        };
        self.found.iter().fold(ToolRegistry::default(), add)
    }

    /// The commands that the tools run, as a shell would read them.
    pub(crate) fn command_lines(&self) -> Vec<String> {
        self.found.values().flat_map(|tool| tool.config.command_lines()).collect()
    }
}

/// What the tools of a project would run, one line each, and the content of their files.
pub(crate) fn tool_grants(workspace: &Path) -> (Vec<String>, Value) {
    let files = project_files(workspace);
    let mut lines = Vec::new();
    let mut texts = Vec::new();
    for file in &files {
        let name = file.name().display().to_string();
        texts.push(json!([name, file.read(MAX_FILE_BYTES).ok().flatten()]));
        match read_tool(file) {
            Ok((tool, config)) => lines.extend(
                config.command_lines().iter().map(|line| format!("{}: {line}", tool.as_str())),
            ),
            Err(error) => lines.push(format!("{error:#}")),
        }
    }
    (lines, json!(texts))
}

/// The commands that the tools of a project run, with paths from its folder.
pub(crate) fn project_commands(workspace: &Path) -> Vec<Value> {
    let read = |file: &ConfigFile| read_tool(file).ok();
    let tools = project_files(workspace).iter().filter_map(read).collect::<Vec<_>>();
    let lines = tools.iter().flat_map(|(_, config)| config.command_lines());
    let root = format!("{}/", workspace.display());
    lines.map(|line| Value::from(line.replace(&root, ""))).collect()
}

fn user_files() -> Vec<ConfigFile> {
    let config = paths::config_path();
    let folder = config.as_deref().and_then(Path::parent);
    folder.map(|folder| tool_files(folder, USER_FOLDER, FileOwner::User)).unwrap_or_default()
}

fn project_files(workspace: &Path) -> Vec<ConfigFile> {
    let real = |path: &Path| path.canonicalize().ok();
    let own = paths::config_path().and_then(|path| real(&path.parent()?.join(USER_FOLDER)));
    let is_own = own.is_some() && own == real(&workspace.join(PROJECT_FOLDER));
    match is_own || is_user_folder(workspace) {
        true => Vec::new(),
        false => tool_files(workspace, PROJECT_FOLDER, FileOwner::Project),
    }
}

fn tool_files(folder: &Path, sub: &str, owner: FileOwner) -> Vec<ConfigFile> {
    // Each tool has a program beside its file.
    let mut files = list_files(folder, Path::new(sub), owner, 1, 4 * MAX_FILES);
    files.retain(|file| file.name().extension().is_some_and(|ext| ext == "toml"));
    files.truncate(MAX_FILES);
    files
}

/// The name of the tool that a file defines.
fn tool_name(file: &ConfigFile) -> Option<&str> {
    file.name().file_stem()?.to_str()
}

/// Reads the tool of a file. Without `argv` it runs the program of the same name beside it.
fn read_tool(file: &ConfigFile) -> anyhow::Result<(CommandToolName, CommandToolConfig)> {
    let path = file.path();
    let shown = path.display();
    let text =
        file.read(MAX_FILE_BYTES).map_err(|why| anyhow::anyhow!("the tool {shown} {why}"))?;
    let text = text.ok_or_else(|| anyhow::anyhow!("the tool {shown} no longer exists"))?;
    let name = CommandToolName::try_from(tool_name(file).unwrap_or_default().to_owned())
        .map_err(|reason| anyhow::anyhow!("the tool {shown} is not valid: {reason}"))?;
    let has_program =
        toml::from_str::<toml::Table>(&text).map_or(true, |table| table.contains_key("argv"));
    let (added, full) = match has_program {
        true => (0, text),
        false => (1, format!("{}\n{text}", program_line(&path)?)),
    };
    let config: CommandToolConfig =
        toml::from_str(&full).map_err(|error| invalid_file(&path, &full, added, &error))?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    Ok((name, config.with_programs_beside(folder)))
}

fn invalid_file(path: &Path, text: &str, added: usize, error: &toml::de::Error) -> anyhow::Error {
    let at = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = (at.matches('\n').count() + 1).saturating_sub(added).max(1);
    let reason = error.message().lines().collect::<Vec<_>>().join(" ");
    anyhow::anyhow!("the tool {} is not valid (line {line}: {reason}); fix it", path.display())
}

/// The line of the file that would name the program beside it.
fn program_line(path: &Path) -> anyhow::Result<String> {
    let (folder, stem) = (path.parent().unwrap_or(Path::new("/")), path.file_stem());
    let entries = std::fs::read_dir(folder)?.filter_map(Result::ok).map(|entry| entry.path());
    let is_program = |other: &PathBuf| {
        other.file_stem() == stem && other.extension().is_none_or(|ext| ext != "toml")
    };
    let mut programs: Vec<PathBuf> =
        entries.filter(is_program).filter(|other| other.is_file()).take(2).collect();
    let shown = path.display();
    match (programs.pop(), programs.pop()) {
        (Some(program), None) => {
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            Ok(format!("argv = [{}]", json!(format!("./{name}"))))
        }
        (Some(_), Some(_)) => bail!("the tool {shown} has several programs beside it; set `argv`"),
        (None, _) => bail!("the tool {shown} has no program beside it; add one or set `argv`"),
    }
}

/// The names of all command tools that this process knows, for checks of rules and flags.
static KNOWN_NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// Adds names to those that rules may have. A name lives as long as the process; there are at most
/// as many as there are tools.
fn announce_names<'a>(names: impl Iterator<Item = &'a str>) {
    let mut known = KNOWN_NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    for name in names {
        if !known.contains(&name) {
            known.push(Box::leak(Box::from(name)));
        }
    }
}

/// The names of the command tools that were loaded.
pub(crate) fn known_names() -> Vec<&'static str> {
    KNOWN_NAMES.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
