//! Plugins: folders with commands, sub-agents, skills, hooks and MCP servers, in the layout of Claude
//! Code. They are installed by the user (`windlass plugin install`), or given for one process
//! (`--plugin-dir`). Both are approvals: what a plugin brings counts like the user's own.
//!
//! The names of what a plugin brings begin with the name of the plugin: `/shop:release`.

pub(crate) mod installed_plugins;
mod manifest;
pub(crate) mod plugin_content;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use serde_json::{Map, Value};
use windlass::tools::HookConfig;

use crate::args::PermissionArgs;
use crate::config::claude::config_file::{ConfigFile, FileOwner, list_files};
use crate::config::claude::settings_sources::{self, SettingsFile};
use crate::config::claude::{agent_files, custom_commands, skills};
use crate::config::trust::folder_trust::FolderTrust;

/// Maximum number of plugins in force.
const MAX_PLUGINS: usize = 100;

/// Maximum size of one configuration file of a plugin in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Maximum depth of nested folders of commands.
const MAX_DEPTH: usize = 6;

/// Maximum number of files of one kind.
const MAX_FILES: usize = 500;

/// The variable that names the folder of a plugin in what the plugin brings.
pub(crate) const ROOT_VARIABLE: &str = "CLAUDE_PLUGIN_ROOT";

/// A plugin in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plugin {
    pub(crate) name: String,
    pub(crate) version: Option<String>,
    pub(crate) description: Option<String>,
    /// The folder of the plugin.
    pub(crate) root: PathBuf,
    /// Its hooks, as `settings.json` has them.
    pub(crate) hooks: Map<String, Value>,
    /// Its MCP servers, as `.mcp.json` has them.
    pub(crate) servers: Map<String, Value>,
    /// Entries of its manifest that have no effect.
    pub(crate) without_effect: Vec<String>,
    commands: Vec<PathBuf>,
    agents: Vec<PathBuf>,
    skills: Vec<PathBuf>,
}

/// A file of a plugin, with the folder of the plugin in which it was found.
#[derive(Debug, Clone)]
pub(crate) struct PluginFile {
    pub(crate) file: ConfigFile,
    /// The part of its path that is no part of its name.
    pub(crate) base: PathBuf,
}

impl Plugin {
    /// Reads the plugin in a folder.
    pub(crate) fn read(root: &Path) -> anyhow::Result<Self> {
        let shown = root.display();
        let root = root.canonicalize().with_context(|| format!("there is no folder {shown}"))?;
        if !root.is_dir() {
            bail!("{shown} is not a folder; give the folder of a plugin");
        }
        let plugin = manifest::read_plugin(&root).with_context(|| format!("the plugin {shown}"))?;
        if let Err(error) = HookConfig::parse(&Value::Object(plugin.hooks.clone()).to_string()) {
            bail!("the plugin {shown}: {error}");
        }
        if plugin.is_empty() {
            bail!(
                "{shown} is not a plugin: it has no .claude-plugin/plugin.json, and no commands, agents, \
                 skills, hooks or MCP servers"
            );
        }
        Ok(plugin)
    }

    fn is_empty(&self) -> bool {
        let is_described = self.root.join(manifest::FILE).is_file();
        !is_described
            && self.hooks.is_empty()
            && self.servers.is_empty()
            && [self.command_files(), self.agent_files(), self.skill_files()]
                .iter()
                .all(Vec::is_empty)
    }

    /// The pages of its commands.
    pub(crate) fn command_files(&self) -> Vec<PluginFile> {
        self.markdown_files(&self.commands, MAX_DEPTH)
    }

    /// The files of its sub-agents.
    pub(crate) fn agent_files(&self) -> Vec<PluginFile> {
        self.markdown_files(&self.agents, 1)
    }

    /// The pages of its skills.
    pub(crate) fn skill_files(&self) -> Vec<PluginFile> {
        let mut pages = self.markdown_files(&self.skills, 2);
        pages.retain(|page| page.file.name().file_name().is_some_and(|name| name == "SKILL.md"));
        pages
    }

    fn markdown_files(&self, places: &[PathBuf], depth: usize) -> Vec<PluginFile> {
        let mut found = Vec::new();
        for place in places {
            if self.root.join(place).is_file() {
                let base = place.parent().unwrap_or(Path::new("")).to_owned();
                found.push((ConfigFile::new(&self.root, place, FileOwner::Project), base));
                continue;
            }
            let files = list_files(&self.root, place, FileOwner::Project, depth, MAX_FILES);
            found.extend(files.into_iter().map(|file| (file, place.clone())));
        }
        found.retain(|(file, _)| file.name().extension().is_some_and(|ext| ext == "md"));
        found.into_iter().map(|(file, base)| PluginFile { file, base }).collect()
    }

    /// The name of something that the plugin brings.
    pub(crate) fn qualify(&self, name: &str) -> String {
        format!("{}:{name}", self.name)
    }

    /// The text with the folder of the plugin in place of its variable.
    pub(crate) fn fill_root(&self, text: &str) -> String {
        text.replace(&format!("${{{ROOT_VARIABLE}}}"), &self.root.to_string_lossy())
    }

    /// The number of things of each kind: `2 commands, 1 hook`.
    pub(crate) fn summarize(&self) -> String {
        let hooks = self.hook_commands().len();
        let kinds = [
            (self.command_files().len(), "command"),
            (self.agent_files().len(), "agent"),
            (self.skill_files().len(), "skill"),
            (hooks, "hook"),
            (self.servers.len(), "MCP server"),
        ];
        let count = |(count, kind): (usize, &str)| match count {
            0 => None,
            1 => Some(format!("1 {kind}")),
            many => Some(format!("{many} {kind}s")),
        };
        let counts: Vec<String> = kinds.into_iter().filter_map(count).collect();
        if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") }
    }

    /// What each of its hooks does, one line each: its event, its matcher, and the command.
    pub(crate) fn hook_commands(&self) -> Vec<String> {
        crate::config::trust::project_grants::hook_lines(&Value::Object(self.hooks.clone()))
    }

    /// The rules and models that its commands, skills and agents bring, one line each.
    pub(crate) fn rule_lines(&self) -> Vec<String> {
        let plugin = Arc::new(self.clone());
        let mut lines = custom_commands::plugin_grants(&plugin);
        lines.extend(skills::plugin_grants(&plugin));
        lines.extend(agent_files::plugin_grants(&plugin));
        lines
    }

    /// Everything that it would run or allow.
    pub(crate) fn grants(&self) -> [Vec<String>; 3] {
        [self.hook_commands(), self.server_lines(), self.rule_lines()]
    }

    /// How each of its servers is started or reached, one line each.
    pub(crate) fn server_lines(&self) -> Vec<String> {
        let line = |(name, server): (&String, &Value)| {
            let text = |key: &str| server.get(key).and_then(Value::as_str).unwrap_or_default();
            let arguments = server.get("args").and_then(Value::as_array).into_iter().flatten();
            let mut words = vec![text("command"), text("url")];
            words.extend(arguments.filter_map(Value::as_str));
            words.retain(|word| !word.is_empty());
            format!("{name}: {}", words.join(" "))
        };
        self.servers.iter().map(line).collect()
    }
}

/// The plugins in force, by name.
pub(crate) fn load_plugins(
    args: &PermissionArgs,
    folder: &FolderTrust,
) -> anyhow::Result<Vec<Arc<Plugin>>> {
    if args.plugins.is_empty() {
        // Usually there is none, and then no settings file needs to be read.
        let installed = installed_plugins::read()?;
        if installed.plugins.is_empty() || !args.reads_source("user") {
            return Ok(Vec::new());
        }
    }
    enabled_plugins(args, &settings_sources::read_sources(args, folder)?, folder)
}

/// The plugins that these settings leave in force.
pub(crate) fn enabled_plugins(
    args: &PermissionArgs,
    settings: &[SettingsFile],
    folder: &FolderTrust,
) -> anyhow::Result<Vec<Arc<Plugin>>> {
    let mut found: Vec<Plugin> = Vec::new();
    for root in &args.plugins.dirs {
        found.push(Plugin::read(root).context("--plugin-dir")?);
    }
    for root in &args.plugins.dirs_without_mcp {
        let plugin = Plugin::read(root).context("--plugin-dir-no-mcp")?;
        found.push(Plugin { servers: Map::new(), ..plugin });
    }
    if let Some(twice) = duplicate_name(&found) {
        bail!("--plugin-dir: two plugins are called {twice}; give one of them");
    }
    if args.reads_source("user") {
        let installed = installed_plugins::read()?;
        for plugin in &installed.plugins {
            let is_given = found.iter().any(|other| other.name == plugin.name);
            let mut choice = settings.iter().rev().filter(|file| file.is_in_effect(folder));
            let choice = choice.find_map(|file| file.plugin_choice(&plugin.name));
            if !is_given && choice.unwrap_or(plugin.enabled) {
                found.push(plugin.load()?);
            }
        }
    }
    if found.len() > MAX_PLUGINS {
        bail!("{} plugins are enabled; the limit is {MAX_PLUGINS}: disable some", found.len());
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found.into_iter().map(Arc::new).collect())
}

fn duplicate_name(plugins: &[Plugin]) -> Option<&str> {
    let mut seen = std::collections::HashSet::new();
    plugins.iter().find(|plugin| !seen.insert(&plugin.name)).map(|plugin| plugin.name.as_str())
}
