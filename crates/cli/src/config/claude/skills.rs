//! Skills: folders `skills/NAME` in the settings folder, each with a page `SKILL.md`: front matter
//! with a description, and instructions below. The folder may have scripts and other files.
//!
//! An untrusted folder provides text only: its skills bring no rules and no model, and do not hide
//! the user's own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass::core::permission::{PermissionRule, Permissions};
use windlass::tools::{GENERAL_PURPOSE_AGENT, LoadedSkill, SkillSummary, SkillTool};

use crate::args::AgentArgs;
use crate::config::claude::config_file::{ConfigFile, FileOwner};
use crate::config::claude::custom_commands::{CommandPage, CustomCommand};
use crate::config::claude::permission_settings;
use crate::config::paths;
use crate::config::plugins::{Plugin, PluginFile};
use crate::config::trust::folder_trust::{TrustState, is_user_folder};
use crate::prompt::command_arguments;

/// Maximum number of skills of one folder.
const MAX_SKILLS: usize = 500;

/// The page of a skill.
const PAGE: &str = "SKILL.md";

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skill {
    /// The skill as it can be typed.
    command: CustomCommand,
    description: String,
    /// Whether the model may load it by itself.
    is_for_model: bool,
    /// Whether it can be typed as a command.
    is_typed: bool,
}

/// The skills in force, by name, and what is wrong with others.
#[derive(Debug, Default)]
pub(crate) struct Skills {
    found: Vec<Skill>,
    pub(crate) problems: Vec<String>,
}

impl Skills {
    /// Loads the skills of a run with these flags.
    pub(crate) fn load(
        args: &AgentArgs,
        workspace: &Path,
        trust: TrustState,
        plugins: &[Arc<Plugin>],
    ) -> Self {
        let reads = |source: &str| args.permissions.reads_source(source);
        let mut skills = Self::of_folder(reads, workspace, trust, plugins);
        if let Some(offered) = &args.agents.skills {
            skills.found.retain(|skill| offered.iter().any(|name| name == skill.name()));
        }
        skills
    }

    /// Loads the skills of the given sources.
    pub(crate) fn of_folder(
        reads: impl Fn(&str) -> bool,
        workspace: &Path,
        trust: TrustState,
        plugins: &[Arc<Plugin>],
    ) -> Self {
        let user = paths::user_settings_folder().filter(|_| reads("user"));
        let own = user.map(|folder| list_pages(&folder, "skills", FileOwner::User));
        let own = pages(own.unwrap_or_default(), TrustState::Trusted);
        let project = match reads("project") && !is_user_folder(workspace) {
            true => pages(list_pages(workspace, ".claude/skills", FileOwner::Project), trust),
            false => Vec::new(),
        };
        let by_precedence = match trust {
            TrustState::Trusted => [project, own],
            TrustState::Untrusted => [own, project],
        };
        let mut skills = Self::default();
        let of_plugins = plugins.iter().flat_map(plugin_pages);
        for command in by_precedence.into_iter().flatten().chain(of_plugins) {
            if skills.found.iter().all(|known| known.name() != command.name) {
                skills.add(command);
            }
        }
        skills.found.sort_by(|one, other| one.name().cmp(other.name()));
        skills
    }

    fn add(&mut self, command: CustomCommand) {
        let path = command.path();
        match command.read_page() {
            Ok(page) => {
                let told = |warning: &String| format!("{} {warning}", path.display());
                self.problems.extend(page.warnings.iter().map(told));
                self.found.push(Skill {
                    command,
                    description: page.description,
                    is_for_model: page.is_for_model,
                    is_typed: page.is_typed,
                });
            }
            Err(reason) => self.problems.push(format!("{} is ignored: {reason}", path.display())),
        }
    }

    /// The skills that can be typed as commands.
    pub(crate) fn typed_commands(self) -> impl Iterator<Item = CustomCommand> {
        self.found.into_iter().filter(|skill| skill.is_typed).map(|skill| skill.command)
    }

    /// The names of the skills.
    pub(crate) fn into_names(self) -> Vec<String> {
        self.found.into_iter().map(|skill| skill.command.name).collect()
    }

    /// The names of the skills.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.found.iter().map(Skill::name)
    }

    /// The pages of the skills.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.found.iter().map(|skill| skill.command.path()).collect()
    }

    /// The instructions of these skills, for a system prompt; `report` is told which cannot be read.
    pub(crate) fn instructions(&self, names: &[String], report: impl Fn(&str)) -> Vec<String> {
        let mut texts = Vec::new();
        for name in names {
            let skill = self.found.iter().find(|skill| skill.name() == name);
            let loaded = skill.ok_or_else(|| "there is no such skill".to_owned());
            match loaded.and_then(|skill| load_skill(&skill.command, "")) {
                Ok(skill) => texts.push(format!("# The skill {name}\n\n{}", skill.text)),
                Err(reason) => {
                    report(&format!("the skill {name} of an agent is left out: {reason}"));
                }
            }
        }
        texts
    }

    /// The tool that loads the skills which the rules do not deny; `None` if there are none. `agents`
    /// are those that can be started, if any can.
    pub(crate) fn tool(
        &self,
        rules: &Permissions,
        agents: Option<Vec<String>>,
    ) -> Option<SkillTool> {
        let offered = self.found.iter().filter(|skill| skill.is_for_model);
        let offered: Vec<&Skill> = offered.filter(|skill| !is_denied(skill, rules)).collect();
        let summary = |skill: &&Skill| SkillSummary {
            name: skill.name().to_owned(),
            description: skill.description.clone(),
        };
        let summaries: Vec<SkillSummary> = offered.iter().map(summary).collect();
        let commands: Vec<CustomCommand> =
            offered.into_iter().map(|skill| skill.command.clone()).collect();
        let load = move |name: &str, args: &str| -> Result<LoadedSkill, String> {
            let skill = commands.iter().find(|command| command.name == name);
            let skill = load_skill(skill.ok_or("it no longer exists")?, args)?;
            match &skill.fork {
                None => Ok(skill),
                Some(agent) => {
                    Ok(LoadedSkill { fork: Some(find_agent(agent, agents.as_deref())?), ..skill })
                }
            }
        };
        (!summaries.is_empty()).then(|| SkillTool::new(summaries, Arc::new(load)))
    }

    /// The rules by which the files of the user's own skills, and of those of plugins, can be read.
    pub(crate) fn read_rules(&self) -> Vec<PermissionRule> {
        let own = paths::user_settings_folder().map(|folder| folder.join("skills"));
        let is_own =
            |skill: &Skill| own.as_ref().is_some_and(|own| skill.command.path().starts_with(own));
        let own = own.as_ref().filter(|_| self.found.iter().any(is_own));
        let mut folders: Vec<PathBuf> = own.into_iter().cloned().collect();
        folders.extend(self.found.iter().filter_map(|skill| skill.command.plugin_root()));
        folders.dedup();
        let rule = |folder: PathBuf| {
            let folder = folder.canonicalize().ok()?;
            PermissionRule::parse(&format!("Read(/{}/**)", folder.display())).ok()
        };
        folders.into_iter().filter_map(rule).collect()
    }
}

impl Skill {
    fn name(&self) -> &str {
        &self.command.name
    }
}

fn is_denied(skill: &Skill, rules: &Permissions) -> bool {
    let named = [format!("Skill({})", skill.name()), format!("Skill({}:*)", skill.name())];
    rules
        .deny
        .iter()
        .chain(&rules.disallowed)
        .any(|rule| named.iter().any(|n| **n == **rule.text()))
}

/// What each skill of a project requests beyond its text, one line each.
pub(crate) fn skill_grants(workspace: &Path) -> Vec<String> {
    let files = list_pages(workspace, ".claude/skills", FileOwner::Project);
    pages(files, TrustState::Trusted).iter().filter_map(CustomCommand::grants).collect()
}

/// What each skill of a plugin requests beyond its text, one line each.
pub(crate) fn plugin_grants(plugin: &Arc<Plugin>) -> Vec<String> {
    plugin_pages(plugin).iter().filter_map(CustomCommand::grants).collect()
}

/// The commands that skills of a project would allow, with the files that they name.
pub(crate) fn allowed_commands(workspace: &Path) -> Vec<String> {
    let files = list_pages(workspace, ".claude/skills", FileOwner::Project);
    let rules = pages(files, TrustState::Trusted).into_iter().filter_map(|command| {
        let rules = command.read_page().ok()?.rules?;
        Some(permission_settings::split_list(&rules))
    });
    let root = format!("{}/", workspace.display());
    let inside = |rule: String| {
        let (_, scope) = rule.split_once('(')?;
        Some(scope.trim_end_matches(')').replace(":*", " ").replace(&root, ""))
    };
    rules.flatten().filter_map(inside).collect()
}

fn load_skill(skill: &CustomCommand, args: &str) -> Result<LoadedSkill, String> {
    let CommandPage { prompt, rules, fork, .. } = skill.read_page()?;
    let rules = rules.iter().flat_map(|rules| permission_settings::split_list(rules));
    let rules = rules.map(|rule| permission_settings::parse_rule(&rule));
    let allows: Result<Vec<PermissionRule>, _> = rules.collect();
    let allows = allows.map_err(|error| error.to_string())?;
    let text = command_arguments::fill_arguments(&prompt, args);
    Ok(LoadedSkill { text, allows, fork: fork.map(Arc::from) })
}

/// The agent of a skill that runs as a sub-agent.
fn find_agent(agent: &Arc<str>, agents: Option<&[String]>) -> Result<Arc<str>, String> {
    let Some(agents) = agents else {
        return Err("it starts a sub-agent, and the tool Agent is not offered here".to_owned());
    };
    match &**agent {
        "" | GENERAL_PURPOSE_AGENT => Ok(Arc::from("")),
        name if agents.iter().any(|known| known == name) => Ok(Arc::clone(agent)),
        name => Err(format!("its agent `{name}` does not exist; `windlass agents` lists them")),
    }
}

fn pages(files: Vec<ConfigFile>, trust: TrustState) -> Vec<CustomCommand> {
    files.into_iter().filter_map(|file| CustomCommand::of_skill(file, trust)).collect()
}

/// The skills of a plugin.
fn plugin_pages(plugin: &Arc<Plugin>) -> Vec<CustomCommand> {
    let page = |page: PluginFile| CustomCommand::of_plugin_skill(page.file, plugin);
    plugin.skill_files().into_iter().filter_map(page).collect()
}

/// The page of each folder.
fn list_pages(folder: &Path, sub: &str, owner: FileOwner) -> Vec<ConfigFile> {
    let Ok(entries) = std::fs::read_dir(folder.join(sub)) else { return Vec::new() };
    let mut names: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| Path::new(sub).join(entry.file_name()).join(PAGE))
        .filter(|page| folder.join(page).is_file())
        .collect();
    names.sort();
    names.truncate(MAX_SKILLS);
    names.into_iter().map(|name| ConfigFile::new(folder, name, owner)).collect()
}
