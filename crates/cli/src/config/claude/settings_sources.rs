//! Settings files shared with Claude Code: `.claude/settings.json` of the user and of the project,
//! the local one, and what `--settings` gives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::sandbox_keys::ClaudeSandbox;
use crate::args::PermissionArgs;
use crate::config::claude::config_file::{ConfigFile, FileOwner};
use crate::config::claude::settings_check::{self, SettingsFindings};
use crate::config::claude::unique_keys;
use crate::config::paths;
use crate::config::plugins::{self, Plugin};
use crate::config::trust::folder_trust::{self, FolderTrust, TrustState};
use crate::exit::UsageError;
use crate::{messages, terminal};

/// Maximum size of one settings file in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The names that `--setting-sources` knows.
pub(crate) const SOURCE_NAMES: [&str; 3] = ["user", "project", "local"];

/// The settings files of a project, by source.
const PROJECT_FILES: [(&str, &str); 2] =
    [("project", ".claude/settings.json"), ("local", ".claude/settings.local.json")];

/// A settings file as it was read: a JSON object.
#[derive(Debug, Clone)]
pub(crate) struct SettingsFile {
    /// `user`, `project`, `local`, `--settings` or `--managed-settings`.
    pub(crate) source: &'static str,
    /// The path of the file, or the flag.
    pub(crate) location: String,
    pub(crate) table: Map<String, Value>,
}

/// Settings of one file, as far as this program knows them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SettingsSource {
    /// Permission rules.
    pub(crate) permissions: SettingsPermissions,
    /// Environment variables for tools.
    pub(crate) env: BTreeMap<String, String>,
    /// Hooks, as they are in the file.
    pub(crate) hooks: Value,
    /// Whether the hooks of all sources are disabled.
    pub(crate) disable_all_hooks: bool,
    /// The configured model.
    pub(crate) model: Option<String>,
    /// The sandbox of Claude Code.
    pub(crate) sandbox: ClaudeSandbox,
    /// The chosen output style.
    pub(crate) output_style: Option<String>,
    /// Which installed plugins are in force, by name.
    pub(crate) enabled_plugins: BTreeMap<String, bool>,
    /// The plugin that these settings are from.
    #[serde(skip)]
    pub(crate) plugin: Option<Arc<Plugin>>,
    // Helpers of Claude Code, which uses the same files: each is a command, or a table that has
    // one.
    api_key_helper: Value,
    aws_auth_refresh: Value,
    aws_credential_export: Value,
    file_suggestion: Value,
    gcp_auth_refresh: Value,
    otel_headers_helper: Value,
    status_line: Value,
    subagent_status_line: Value,
}

impl SettingsSource {
    /// The settings that a plugin brings: its hooks.
    fn of_plugin(plugin: Arc<Plugin>) -> Self {
        let hooks = Value::Object(plugin.hooks.clone());
        Self { hooks, plugin: Some(plugin), ..Self::default() }
    }

    /// The command that draws the status line of a session.
    pub(crate) fn status_line_command(&self) -> Option<&str> {
        self.status_line.get("command")?.as_str().filter(|command| !command.trim().is_empty())
    }

    /// The commands that the file makes programs run: hooks, and helpers of Claude Code, which uses
    /// the same files.
    pub(crate) fn commands<'a>(&'a self) -> Vec<&'a str> {
        let mut commands = hook_commands(&self.hooks);
        let helpers = [
            &self.api_key_helper,
            &self.aws_auth_refresh,
            &self.aws_credential_export,
            &self.file_suggestion,
            &self.gcp_auth_refresh,
            &self.otel_headers_helper,
            &self.status_line,
            &self.subagent_status_line,
        ];
        let command = |helper: &'a Value| helper.get("command").unwrap_or(helper).as_str();
        commands.extend(helpers.into_iter().filter_map(command));
        commands
    }
}

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
pub(crate) struct SettingsPermissions {
    pub(crate) allow: Vec<String>,
    pub(crate) ask: Vec<String>,
    pub(crate) deny: Vec<String>,
    pub(crate) additional_directories: Vec<PathBuf>,
    pub(crate) default_mode: Option<String>,
    /// `disable` forbids bypassPermissions.
    pub(crate) disable_bypass_permissions_mode: Option<String>,
}

/// Checks the settings. What is wrong is an error; names that have no effect, here or in Claude
/// Code, are reported.
pub(crate) fn check_sources(args: &PermissionArgs, folder: &FolderTrust) -> anyhow::Result<()> {
    args.validate_sources().map_err(UsageError::wrap)?;
    for text in read_sources(args, folder)? {
        report_findings(args, &text.location, &settings_check::check_settings(&text.table))?;
    }
    Ok(())
}

/// Every source in force, the one with the highest precedence last. Plugins come first.
pub(crate) fn effective_sources(
    args: &PermissionArgs,
    folder: &FolderTrust,
) -> anyhow::Result<Vec<SettingsSource>> {
    let texts = read_sources(args, folder)?;
    let plugins = plugins::enabled_plugins(args, &texts, folder)?;
    let plugins = plugins.into_iter().map(|plugin| Ok(SettingsSource::of_plugin(plugin)));
    plugins.chain(texts.iter().map(|text| text.to_trusted_source(folder))).collect()
}

/// The plugins in force.
pub(crate) fn plugins_of(sources: &[SettingsSource]) -> Vec<Arc<Plugin>> {
    sources.iter().filter_map(|source| source.plugin.clone()).collect()
}

/// Reads the files in force, the one with the highest precedence last.
pub(crate) fn read_sources(
    args: &PermissionArgs,
    folder: &FolderTrust,
) -> anyhow::Result<Vec<SettingsFile>> {
    let mut texts = Vec::new();
    if args.reads_source("user") {
        texts.extend(user_settings()?);
    }
    texts.extend(
        folder.settings_files.iter().filter(|text| args.reads_source(text.source)).cloned(),
    );
    if let Some(given) = &args.settings {
        texts.push(settings_from_flag("--settings", given)?);
    }
    if let Some(given) = &args.managed_settings {
        texts.push(settings_from_flag("--managed-settings", given)?);
    }
    Ok(texts)
}

/// The settings given with `--settings`, if any.
pub(crate) fn given(args: &PermissionArgs) -> anyhow::Result<Option<SettingsSource>> {
    let given = args.settings.as_deref();
    given.map(|given| settings_from_flag("--settings", given)?.to_source()).transpose()
}

/// The settings that flags give, each with its flag.
pub(crate) fn all_given(
    args: &PermissionArgs,
) -> anyhow::Result<Vec<(&'static str, SettingsSource)>> {
    let flags = [("--settings", &args.settings), ("--managed-settings", &args.managed_settings)];
    let given = flags.into_iter().filter_map(|(flag, given)| Some((flag, given.as_deref()?)));
    given.map(|(flag, given)| Ok((flag, settings_from_flag(flag, given)?.to_source()?))).collect()
}

fn report_findings(
    args: &PermissionArgs,
    place: &str,
    findings: &SettingsFindings,
) -> anyhow::Result<()> {
    if let Some(error) = findings.errors.first() {
        bail!("the settings {place} are not valid: {error}");
    }
    for warning in &findings.warnings {
        if args.strict_settings {
            bail!("the settings {place} are not valid (--strict-settings): {warning}");
        }
        terminal::print_note(&messages::warning(&format!("in the settings {place}: {warning}")));
    }
    Ok(())
}

/// Reports findings in files of this kind; with `--strict-settings` a warning is an error.
pub(crate) fn report_page_findings(
    args: &PermissionArgs,
    kind: &str,
    findings: &SettingsFindings,
) -> anyhow::Result<()> {
    if let Some(error) = findings.errors.first() {
        bail!("the {kind} {error}");
    }
    for warning in &findings.warnings {
        if args.strict_settings {
            bail!("the {kind} {warning} (--strict-settings)");
        }
        terminal::print_note(&messages::warning(&format!("in the {kind} {warning}")));
    }
    Ok(())
}

/// The effective settings: those of an untrusted folder can only restrict, or choose text.
fn restrict_if_untrusted(source: SettingsSource, trust: TrustState) -> SettingsSource {
    match trust {
        TrustState::Trusted => source,
        TrustState::Untrusted => {
            let SettingsPermissions { ask, deny, disable_bypass_permissions_mode, .. } =
                source.permissions;
            let permissions = SettingsPermissions {
                ask,
                deny,
                disable_bypass_permissions_mode,
                ..SettingsPermissions::default()
            };
            // A style is text.
            let output_style = source.output_style;
            SettingsSource { permissions, output_style, ..SettingsSource::default() }
        }
    }
}

/// The user's own settings.
pub(crate) fn user_settings() -> anyhow::Result<Option<SettingsFile>> {
    let Some(folder) = paths::user_settings_folder() else { return Ok(None) };
    read_settings("user", &ConfigFile::new(&folder, "settings.json", FileOwner::User))
}

/// The settings of a project. An unreadable file is an error if its source is in use.
pub(crate) fn project_settings(
    folder: &Path,
    reads: impl Fn(&str) -> bool,
) -> anyhow::Result<Vec<SettingsFile>> {
    if folder_trust::is_user_folder(folder) {
        return Ok(Vec::new());
    }
    let mut texts = Vec::new();
    for (source, name) in PROJECT_FILES {
        match read_settings(source, &ConfigFile::new(folder, name, FileOwner::Project)) {
            Ok(text) => texts.extend(text),
            Err(error) if reads(source) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(texts)
}

fn read_settings(source: &'static str, file: &ConfigFile) -> anyhow::Result<Option<SettingsFile>> {
    let location = file.path().display().to_string();
    let without = "--setting-sources leaves it out";
    let text = file.read(MAX_FILE_BYTES);
    let text =
        text.map_err(|error| anyhow::anyhow!("the settings file {location} {error} ({without})"))?;
    text.map(|text| parse_settings(source, &text, location)).transpose()
}

fn settings_from_flag(flag: &'static str, given: &str) -> anyhow::Result<SettingsFile> {
    if given.trim_start().starts_with('{') {
        return parse_settings(flag, given, format!("given with {flag}"));
    }
    match read_settings(flag, &ConfigFile::new(Path::new(""), given, FileOwner::User))? {
        Some(text) => Ok(text),
        None => bail!("the settings file {given} does not exist; give a file or a JSON object"),
    }
}

fn parse_settings(
    source: &'static str,
    text: &str,
    location: String,
) -> anyhow::Result<SettingsFile> {
    match unique_keys::parse(text) {
        Ok(Value::Object(table)) => Ok(SettingsFile { source, location, table }),
        Ok(_) => {
            bail!("the settings {location} are not valid: they must be a JSON object; fix them")
        }
        Err(error) => bail!("the settings {location} are not valid JSON ({error}); fix them"),
    }
}

impl SettingsFile {
    /// Whether the file may decide what is in force.
    pub(crate) fn is_in_effect(&self, folder: &FolderTrust) -> bool {
        folder.trust == TrustState::Trusted || !matches!(self.source, "project" | "local")
    }

    /// Whether the file puts a plugin in force, if it says so. The name may be followed by that of a
    /// marketplace: `shop@company`.
    pub(crate) fn plugin_choice(&self, name: &str) -> Option<bool> {
        let choices = self.table.get("enabledPlugins")?.as_object()?;
        let is_named = |key: &str| key.split('@').next() == Some(name);
        choices.iter().find_map(|(key, value)| value.as_bool().filter(|_| is_named(key)))
    }

    /// The settings of the file that are in effect.
    fn to_trusted_source(&self, folder: &FolderTrust) -> anyhow::Result<SettingsSource> {
        let source = self.to_source()?;
        let trusted = self.is_in_effect(folder);
        Ok(if trusted { source } else { restrict_if_untrusted(source, folder.trust) })
    }

    fn to_source(&self) -> anyhow::Result<SettingsSource> {
        serde_json::from_value(Value::Object(self.table.clone())).map_err(|error| {
            anyhow::anyhow!("the settings {} are not valid ({error}); fix them", self.location)
        })
    }
}
