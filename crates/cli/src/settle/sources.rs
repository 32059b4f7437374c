//! Settings files that people already have: `.claude/settings.json` of the user, of the project, and
//! the local one, and what `--settings` says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::bail;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::config_file::{ConfigFile, Owner};
use super::settings_check::{self, SettingsFindings};
use super::trust::{self, Trust};
use super::{paths, trust::FolderTrust, unique_keys};
use crate::args::PermissionArgs;
use crate::exit::UsageError;
use crate::{show, words};

/// Bytes of one settings file.
const FILE_BYTES: u64 = 4 << 20;

/// The names that `--setting-sources` knows.
pub(crate) const SOURCE_NAMES: [&str; 3] = ["user", "project", "local"];

/// The settings files of a project, by source.
const PROJECT_FILES: [(&str, &str); 2] =
    [("project", ".claude/settings.json"), ("local", ".claude/settings.local.json")];

/// A settings file as it was read: a JSON object.
#[derive(Debug, Clone)]
pub(crate) struct SettingsText {
    /// `user`, `project`, `local` or `--settings`.
    pub(crate) source: &'static str,
    /// The file, or the flag.
    pub(crate) place: String,
    pub(crate) table: Map<String, Value>,
}

/// One file's settings, as far as we know them; the rest of the file is somebody else's.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Source {
    /// Permission rules.
    pub(crate) permissions: Rules,
    /// Variables for tools.
    pub(crate) env: BTreeMap<String, String>,
    /// Hooks, as they stand in the file.
    pub(crate) hooks: Value,
    /// Whether no hook of any source runs.
    pub(crate) disable_all_hooks: bool,
    /// The model.
    pub(crate) model: Option<String>,
    /// Everything else in the file, as it stands there: helpers that other agents run, for example.
    #[serde(flatten)]
    pub(crate) rest: Map<String, Value>,
}

impl Source {
    /// The commands that the file has others run: hooks, and helpers of Claude Code, which uses the
    /// same files.
    pub(crate) fn commands(&self) -> Vec<&str> {
        let mut commands = hook_commands(&self.hooks);
        for name in HELPERS {
            let helper = self.rest.get(name);
            let command = helper.and_then(|helper| helper.get("command")).or(helper);
            commands.extend(command.and_then(Value::as_str));
        }
        commands
    }
}

/// Settings that name a command.
const HELPERS: [&str; 8] = [
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "fileSuggestion",
    "gcpAuthRefresh",
    "otelHeadersHelper",
    "statusLine",
    "subagentStatusLine",
];

/// The commands of hooks, as settings have them.
fn hook_commands(hooks: &Value) -> Vec<&str> {
    let groups = hooks.as_object().into_iter().flat_map(|events| events.values());
    let groups = groups.filter_map(Value::as_array).flatten();
    let hooks = groups.filter_map(|group| group.get("hooks")?.as_array()).flatten();
    hooks.filter_map(|hook| hook.get("command")?.as_str()).collect()
}

/// Permission rules of a file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Rules {
    pub(crate) allow: Vec<String>,
    pub(crate) ask: Vec<String>,
    pub(crate) deny: Vec<String>,
    pub(crate) additional_directories: Vec<PathBuf>,
    pub(crate) default_mode: Option<String>,
    /// `disable` if nobody may use bypassPermissions.
    pub(crate) disable_bypass_permissions_mode: Option<String>,
}

/// Whether the settings mean something. What is wrong is an error; what has no effect and is not
/// known to have one elsewhere is told.
pub(crate) fn check(args: &PermissionArgs, folder: &FolderTrust) -> anyhow::Result<()> {
    args.check_sources().map_err(UsageError::of)?;
    for text in in_use(args, folder)? {
        tell(args, &text.place, &settings_check::check(&text.table))?;
    }
    Ok(())
}

/// Every source in force, the strongest last.
pub(crate) fn in_force(args: &PermissionArgs, folder: &FolderTrust) -> anyhow::Result<Vec<Source>> {
    in_use(args, folder)?.iter().map(|text| text.trusted_source(folder)).collect()
}

/// The files that count, the strongest last.
fn in_use(args: &PermissionArgs, folder: &FolderTrust) -> anyhow::Result<Vec<SettingsText>> {
    let mut texts = Vec::new();
    if args.reads("user") {
        texts.extend(of_user()?);
    }
    texts.extend(folder.texts.iter().filter(|text| args.reads(text.source)).cloned());
    if let Some(given) = &args.settings {
        texts.push(inline(given)?);
    }
    Ok(texts)
}

/// What `--settings` says, if it was given.
pub(crate) fn given(args: &PermissionArgs) -> anyhow::Result<Option<Source>> {
    args.settings.as_deref().map(|given| inline(given)?.source()).transpose()
}

fn tell(args: &PermissionArgs, place: &str, findings: &SettingsFindings) -> anyhow::Result<()> {
    if let Some(error) = findings.errors.first() {
        bail!("the settings {place} are not valid: {error}");
    }
    for warning in &findings.warnings {
        if args.strict_settings {
            bail!("the settings {place} are not valid (--strict-settings): {warning}");
        }
        show::note(&words::problem(&format!("in the settings {place}: {warning}")));
    }
    Ok(())
}

/// The same for the heads of agent files.
pub(crate) fn tell_of_agents(
    args: &PermissionArgs,
    findings: &SettingsFindings,
) -> anyhow::Result<()> {
    if let Some(error) = findings.errors.first() {
        bail!("the agent file {error}");
    }
    for warning in &findings.warnings {
        if args.strict_settings {
            bail!("the agent file {warning} (--strict-settings)");
        }
        show::note(&words::problem(&format!("in the agent file {warning}")));
    }
    Ok(())
}

/// What an untrusted folder says can only hold back.
fn as_trusted(source: Source, trust: Trust) -> Source {
    match trust {
        Trust::Given => source,
        Trust::Missing => {
            let Rules { ask, deny, disable_bypass_permissions_mode, .. } = source.permissions;
            let permissions =
                Rules { ask, deny, disable_bypass_permissions_mode, ..Rules::default() };
            Source { permissions, ..Source::default() }
        }
    }
}

/// The user's own settings.
pub(crate) fn of_user() -> anyhow::Result<Option<SettingsText>> {
    let Some(folder) = paths::shared_settings() else { return Ok(None) };
    read("user", &ConfigFile::new(&folder, "settings.json", Owner::User))
}

/// The settings of a project. A file that cannot be read is an error where its source counts.
pub(crate) fn of_project(
    folder: &Path,
    reads: impl Fn(&str) -> bool,
) -> anyhow::Result<Vec<SettingsText>> {
    if trust::is_users_own(folder) {
        return Ok(Vec::new());
    }
    let mut texts = Vec::new();
    for (source, name) in PROJECT_FILES {
        match read(source, &ConfigFile::new(folder, name, Owner::Project)) {
            Ok(text) => texts.extend(text),
            Err(error) if reads(source) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(texts)
}

fn read(source: &'static str, file: &ConfigFile) -> anyhow::Result<Option<SettingsText>> {
    let place = file.path().display().to_string();
    let without = "--setting-sources leaves it out";
    let text = file.read(FILE_BYTES);
    let text =
        text.map_err(|why| anyhow::anyhow!("the settings file {place} {why} ({without})"))?;
    text.map(|text| parse(source, &text, place)).transpose()
}

fn inline(given: &str) -> anyhow::Result<SettingsText> {
    let flag = "--settings";
    if given.trim_start().starts_with('{') {
        return parse(flag, given, "given with --settings".to_owned());
    }
    match read(flag, &ConfigFile::new(Path::new(""), given, Owner::User))? {
        Some(text) => Ok(text),
        None => bail!("the settings {given} do not exist; give a file or a JSON object"),
    }
}

fn parse(source: &'static str, text: &str, place: String) -> anyhow::Result<SettingsText> {
    match unique_keys::parse(text) {
        Ok(Value::Object(table)) => Ok(SettingsText { source, place, table }),
        Ok(_) => bail!("the settings {place} are not valid: they must be a JSON object; fix them"),
        Err(error) => bail!("the settings {place} are not valid JSON ({error}); fix them"),
    }
}

impl SettingsText {
    /// What counts of it.
    fn trusted_source(&self, folder: &FolderTrust) -> anyhow::Result<Source> {
        let source = self.source()?;
        let is_projects = matches!(self.source, "project" | "local");
        Ok(if is_projects { as_trusted(source, folder.trust) } else { source })
    }

    fn source(&self) -> anyhow::Result<Source> {
        serde_json::from_value(Value::Object(self.table.clone())).map_err(|error| {
            anyhow::anyhow!("the settings {} are not valid ({error}); fix them", self.place)
        })
    }
}
