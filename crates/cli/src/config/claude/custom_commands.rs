//! Custom commands: `commands/**/*.md` in the settings folder. The page is the prompt; its front
//! matter may give a description, an argument hint, rules and a model.
//!
//! An untrusted folder provides text only: its commands can be typed, but they bring no rules and
//! no model, do not hide the user's own, and cannot reach a file outside of the folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::args::PermissionArgs;
use crate::config::claude::config_file::{ConfigFile, FileOwner, list_files};
use crate::config::claude::front_matter::MarkdownPage;
use crate::config::claude::skills::Skills;
use crate::config::claude::{page_check, permission_settings};
use crate::config::paths;
use crate::config::plugins::{Plugin, PluginFile};
use crate::config::trust::folder_trust::{TrustState, is_user_folder};

#[cfg(test)]
#[path = "custom_commands_tests.rs"]
mod custom_commands_tests;

/// Maximum size of one file in bytes.
const MAX_FILE_BYTES: u64 = 256 << 10;

/// Maximum number of commands that are listed.
const MAX_COMMANDS: usize = 500;

/// Maximum depth of nested folders.
const MAX_DEPTH: usize = 6;

/// A custom command whose page is not read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CustomCommand {
    /// The name as it is typed, without the slash: `git:commit` is `git/commit.md`.
    pub(crate) name: String,
    file: ConfigFile,
    trust: TrustState,
    kind: PageKind,
    /// The plugin that it belongs to.
    plugin: Option<Arc<Plugin>>,
}

/// What a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageKind {
    /// The prompt of a command.
    Command,
    /// The instructions of a skill, in a folder of its own.
    Skill,
}

/// The content of a command's page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandPage {
    /// The description of the command.
    pub(crate) description: String,
    /// A hint for its arguments.
    pub(crate) argument_hint: Option<String>,
    /// Rules for calls that need no approval during the run of this prompt.
    pub(crate) rules: Option<String>,
    /// The model for this prompt.
    pub(crate) model: Option<String>,
    /// The prompt, with placeholders for arguments.
    pub(crate) prompt: String,
    /// Fields that are ignored because the folder is not trusted.
    pub(crate) ignored_fields: Vec<&'static str>,
    /// The agent that a skill with a context of its own is for; empty for one like the caller.
    pub(crate) fork: Option<String>,
    /// Whether the model may use it by itself, if it is a skill.
    pub(crate) is_for_model: bool,
    /// Whether it can be typed.
    pub(crate) is_typed: bool,
    /// Unknown names in the front matter, which have no effect, each with its line.
    pub(crate) warnings: Vec<String>,
}

/// All commands in force, by name.
pub(crate) fn load_commands(
    args: &PermissionArgs,
    workspace: &Path,
    trust: TrustState,
    plugins: &[Arc<Plugin>],
) -> Vec<CustomCommand> {
    effective_commands(|source| args.reads_source(source), workspace, trust, plugins)
}

/// All commands in force of the given sources, by name.
pub(crate) fn effective_commands(
    reads: impl Fn(&str) -> bool,
    workspace: &Path,
    trust: TrustState,
    plugins: &[Arc<Plugin>],
) -> Vec<CustomCommand> {
    let skills = Skills::of_folder(&reads, workspace, trust, plugins);
    let user = paths::user_settings_folder().filter(|_| reads("user"));
    let own =
        user.map(|folder| list_commands(&folder, "commands", FileOwner::User, TrustState::Trusted));
    let own = own.unwrap_or_default();
    let project = match reads("project") && !is_user_folder(workspace) {
        true => list_commands(workspace, ".claude/commands", FileOwner::Project, trust),
        false => Vec::new(),
    };
    let mut commands = merge_commands(own, project, trust);
    commands.extend(plugins.iter().flat_map(plugin_commands));
    for skill in skills.typed_commands() {
        if commands.iter().all(|known| known.name != skill.name) {
            commands.push(skill);
        }
    }
    commands.sort_by(|one, other| one.name.cmp(&other.name));
    commands
}

/// Merges commands by name; the one with the higher precedence wins.
fn merge_commands(
    own: Vec<CustomCommand>,
    project: Vec<CustomCommand>,
    trust: TrustState,
) -> Vec<CustomCommand> {
    let (mut strong, weak) = match trust {
        TrustState::Trusted => (project, own),
        TrustState::Untrusted => (own, project),
    };
    let hidden = |custom: &CustomCommand| strong.iter().any(|known| known.name == custom.name);
    let seen: Vec<CustomCommand> = weak.into_iter().filter(|custom| !hidden(custom)).collect();
    strong.extend(seen);
    strong.sort_by(|one, other| one.name.cmp(&other.name));
    strong
}

/// The commands of a plugin: `shop:git:commit` is `commands/git/commit.md` of the plugin `shop`.
fn plugin_commands(plugin: &Arc<Plugin>) -> Vec<CustomCommand> {
    let command = |PluginFile { file, base }: PluginFile| {
        let name = plugin.qualify(&command_name(file.name().strip_prefix(&base).ok()?)?);
        let (trust, kind) = (TrustState::Trusted, PageKind::Command);
        Some(CustomCommand { name, file, trust, kind, plugin: Some(Arc::clone(plugin)) })
    };
    plugin.command_files().into_iter().filter_map(command).collect()
}

/// What each command of a plugin requests beyond its text, one line each.
pub(crate) fn plugin_grants(plugin: &Arc<Plugin>) -> Vec<String> {
    plugin_commands(plugin).iter().filter_map(CustomCommand::grants).collect()
}

/// What each command of a project requests beyond its text, one line each.
pub(crate) fn command_grants(workspace: &Path) -> Vec<String> {
    let customs =
        list_commands(workspace, ".claude/commands", FileOwner::Project, TrustState::Trusted);
    customs.iter().filter_map(CustomCommand::grants).collect()
}

fn list_commands(
    folder: &Path,
    sub: &str,
    owner: FileOwner,
    trust: TrustState,
) -> Vec<CustomCommand> {
    let files = list_files(folder, Path::new(sub), owner, MAX_DEPTH, MAX_COMMANDS);
    let custom = |file: ConfigFile| {
        let name = command_name(file.name().strip_prefix(sub).ok()?)?;
        Some(CustomCommand { name, file, trust, kind: PageKind::Command, plugin: None })
    };
    files.into_iter().filter_map(custom).collect()
}

/// The name of the command that a page defines: `git:commit` for `git/commit.md`.
fn command_name(page: &Path) -> Option<String> {
    let is_page = page.extension().is_some_and(|ext| ext == "md");
    let page = page.with_extension("");
    let parts: Option<Vec<&str>> = page.iter().map(|part| part.to_str()).collect();
    let parts = parts.filter(|parts| is_page && parts.iter().all(|part| is_command_name(part)))?;
    Some(parts.join(":"))
}

/// Returns whether the name can be typed as a command.
fn is_command_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(fits)
}

impl CustomCommand {
    /// The skill of a page `NAME/SKILL.md`, as a command.
    pub(super) fn of_skill(file: ConfigFile, trust: TrustState) -> Option<Self> {
        let name = file.name().parent()?.file_name()?.to_str()?.to_owned();
        let kind = PageKind::Skill;
        is_command_name(&name).then_some(Self { name, file, trust, kind, plugin: None })
    }

    /// The skill of a page `NAME/SKILL.md` of a plugin, as a command.
    pub(super) fn of_plugin_skill(file: ConfigFile, plugin: &Arc<Plugin>) -> Option<Self> {
        let skill = Self::of_skill(file, TrustState::Trusted)?;
        let name = plugin.qualify(&skill.name);
        Some(Self { name, plugin: Some(Arc::clone(plugin)), ..skill })
    }

    /// The folder of the plugin that it belongs to.
    pub(super) fn plugin_root(&self) -> Option<PathBuf> {
        self.plugin.as_ref().map(|plugin| plugin.root.clone())
    }

    /// The name of the folder of a skill.
    fn own_name(&self) -> &str {
        self.name.rsplit(':').next().unwrap_or(&self.name)
    }

    /// What it requests beyond its text.
    pub(super) fn grants(&self) -> Option<String> {
        let CommandPage { rules, model, .. } = self.read_page().ok()?;
        let asks = rules.map(|rules| format!("allowed-tools {rules}"));
        let asks = asks.into_iter().chain(model.map(|model| format!("model {model}")));
        let asks = asks.collect::<Vec<_>>().join(", ");
        (!asks.is_empty()).then(|| format!("/{}: {asks}", self.name))
    }

    /// The text of the page. That of a skill says where its files are.
    fn page_text(&self, body: String) -> String {
        match (self.kind, self.path().parent()) {
            (PageKind::Command, _) | (PageKind::Skill, None) => self.with_own_folder(&body),
            (PageKind::Skill, Some(folder)) => format!(
                "The files of this skill are in {}.\n\n{}",
                folder.display(),
                self.with_own_folder(&body)
            ),
        }
    }

    /// The text with the folders of the skill and of the plugin in place of their variables.
    fn with_own_folder(&self, text: &str) -> String {
        let text = &match &self.plugin {
            Some(plugin) => plugin.fill_root(text),
            None => text.to_owned(),
        };
        match (self.kind, self.path().parent()) {
            (PageKind::Command, _) | (PageKind::Skill, None) => text.to_owned(),
            (PageKind::Skill, Some(folder)) => {
                text.replace("${CLAUDE_SKILL_DIR}", &folder.display().to_string())
            }
        }
    }

    /// Reads and parses the page.
    pub(crate) fn read_page(&self) -> Result<CommandPage, String> {
        let text = self.file.read(MAX_FILE_BYTES).map_err(|why| format!("it {why}"))?;
        let page = MarkdownPage::parse_optional(&text.ok_or("the file no longer exists")?)?;
        if page.body.is_empty() {
            return Err("the file has no prompt text; write it below the front matter".to_owned());
        }
        let findings = match self.kind {
            PageKind::Command => page_check::check_command(&page),
            PageKind::Skill => page_check::check_skill(&page, self.own_name()),
        };
        if let Some(error) = findings.errors.into_iter().next() {
            return Err(error);
        }
        let field = |name: &str| page.get(name).map(str::to_owned);
        let asked = [("allowed-tools", field("allowed-tools")), ("model", field("model"))];
        let trusted = self.trust == TrustState::Trusted;
        let ignored = asked.iter().filter(|(_, value)| !trusted && value.is_some());
        let ignored_fields = ignored.map(|(name, _)| *name).collect();
        let [rules, model] = asked.map(|(_, value)| value.filter(|_| trusted));
        Ok(CommandPage {
            description: field("description").unwrap_or_else(|| first_line(&page.body)),
            argument_hint: field("argument-hint"),
            rules: rules.map(|list| {
                permission_settings::split_list(&self.with_own_folder(&list)).join(", ")
            }),
            fork: page.get("context").map(|_| field("agent").unwrap_or_default()),
            model: model.filter(|model| model != "inherit"),
            is_for_model: page.get("disable-model-invocation") != Some("true"),
            is_typed: page.get("user-invocable") != Some("false"),
            prompt: self.page_text(page.body),
            ignored_fields,
            warnings: findings.warnings,
        })
    }

    /// The path of the page.
    pub(crate) fn path(&self) -> PathBuf {
        self.file.path()
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']).to_owned()
}
