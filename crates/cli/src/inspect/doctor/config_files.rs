//! Checks of files that people write: configuration, settings and memory. An invalid file would
//! stop every run, so it is reported here with its path.

use std::path::Path;
use std::sync::Arc;

use super::DoctorCheck;
use crate::args::PermissionArgs;
use crate::config::claude::settings_check::{self, SettingsFindings};
use crate::config::claude::settings_sources::{self, SettingsFile};
use crate::config::claude::skills::Skills;
use crate::config::claude::{agent_files, custom_commands, memory_files, output_styles};
use crate::config::command_tools::CommandTools;
use crate::config::plugins::{self, Plugin};
use crate::config::trust::folder_trust::{FolderTrust, TrustState};
use crate::config::{config_toml, paths};
use crate::messages::report;
use crate::setup;
use crate::terminal::sanitize_text;

/// Checks every configuration file that applies here.
pub(super) fn check() -> Vec<DoctorCheck> {
    let mut checks = vec![check_config()];
    checks.extend(check_retention());
    checks.extend(check_settings(
        settings_sources::user_settings().map(|text| text.into_iter().collect()),
    ));
    let Ok(here) = Path::new(".").canonicalize() else { return checks };
    let folder = match FolderTrust::load(&here, |_| true) {
        Ok(folder) => folder,
        Err(error) => {
            checks.push(DoctorCheck::broken("settings", format!("{error:#}")));
            return checks;
        }
    };
    checks.extend(check_tools(&folder));
    checks.extend(profiles(&folder));
    checks.extend(check_settings(Ok(folder.settings_files.clone())));
    checks.extend(check_trust(&folder));
    let memory = memory_files::load_memory_files(&folder, |_| true);
    for file in memory.files {
        checks.push(DoctorCheck::ok("path", report::doctor::path_status("memory", &file.path)));
    }
    checks.extend(memory.problems.into_iter().map(|reason| DoctorCheck::note("memory", reason)));
    let (plugins, found) = check_plugins(&folder);
    checks.extend(found);
    checks.extend(check_agents(&folder, &plugins));
    checks.extend(check_commands(&folder, &plugins));
    checks.extend(check_skills(&folder, &plugins));
    checks.extend(check_styles(&folder));
    checks
}

/// Checks whether the folder is trusted, and says what that enables or would enable.
fn check_trust(folder: &FolderTrust) -> Vec<DoctorCheck> {
    let lines = crate::messages::grant_lines(&folder.grants);
    let lines: String =
        lines.iter().map(|line| format!("\n          {}", sanitize_text(line))).collect();
    match folder.trust {
        TrustState::Trusted => {
            vec![DoctorCheck::ok("trust", report::doctor::folder_trusted(&folder.folder) + &lines)]
        }
        TrustState::Untrusted if folder.has_ignored_grants() => {
            vec![DoctorCheck::note("trust", report::doctor::folder_untrusted(folder) + &lines)]
        }
        TrustState::Untrusted => Vec::new(),
    }
}

/// Lists the command tools, or says why they cannot be used.
fn check_tools(folder: &FolderTrust) -> Option<DoctorCheck> {
    // An unreadable configuration is reported with its path.
    let config = config_toml::read().ok()?;
    match CommandTools::load(&config, &folder.folder, folder.trust, |_| true) {
        Ok(tools) => {
            let names = tools.names().collect::<Vec<_>>().join(", ");
            (!names.is_empty()).then(|| DoctorCheck::ok("tools", names))
        }
        Err(error) => Some(DoctorCheck::broken("tools", format!("{error:#}"))),
    }
}

/// Lists the plugins in force, or says why they cannot be used.
fn check_plugins(folder: &FolderTrust) -> (Vec<Arc<Plugin>>, Vec<DoctorCheck>) {
    let found = match plugins::load_plugins(&PermissionArgs::default(), folder) {
        Ok(found) => found,
        Err(error) => {
            return (Vec::new(), vec![DoctorCheck::broken("plugins", format!("{error:#}"))]);
        }
    };
    let mut checks = Vec::new();
    for plugin in &found {
        let line = format!("{}: {}", plugin.name, plugin.summarize());
        checks.push(DoctorCheck::ok("plugins", sanitize_text(&line)));
        for entry in &plugin.without_effect {
            let line = format!(
                "{}: {entry} is known to other agents, and has no effect here",
                plugin.name
            );
            checks.push(DoctorCheck::note("plugins", sanitize_text(&line)));
        }
    }
    (found, checks)
}

/// Lists the sub-agent definitions, and invalid agent files.
fn check_agents(folder: &FolderTrust, plugins: &[Arc<Plugin>]) -> Vec<DoctorCheck> {
    let agent_files::LoadedAgents { found, problems, findings, .. } = agent_files::load_agents(
        &agent_files::list_agent_files(|_| true, &folder.folder, folder.trust, plugins),
    );
    let names: Vec<&str> = found.iter().map(|agent| agent.name.as_str()).collect();
    let known =
        (!names.is_empty()).then(|| DoctorCheck::ok("agents", report::doctor::agent_names(&names)));
    let mut checks: Vec<DoctorCheck> = known.into_iter().collect();
    let paths = found.iter().filter_map(|agent| agent.source.path());
    checks.extend(paths.map(|path| path_check("agent", path)));
    checks.extend(findings.errors.into_iter().map(|reason| DoctorCheck::broken("agents", reason)));
    checks.extend(findings.warnings.into_iter().map(|reason| DoctorCheck::note("agents", reason)));
    checks.extend(problems.into_iter().map(|reason| DoctorCheck::note("agents", reason)));
    checks
}

/// Lists the custom commands, and invalid command pages.
fn check_commands(folder: &FolderTrust, plugins: &[Arc<Plugin>]) -> Vec<DoctorCheck> {
    let (mut names, mut checks) = (Vec::new(), Vec::new());
    let (at, trust) = (&folder.folder, folder.trust);
    for custom in custom_commands::effective_commands(|_| true, at, trust, plugins) {
        match custom.read_page() {
            Ok(page) => {
                let told = |reason: &String| format!("{} {reason}", custom.path().display());
                checks.extend(
                    page.warnings.iter().map(|reason| DoctorCheck::note("commands", told(reason))),
                );
                names.push(format!("/{}", custom.name));
            }
            Err(reason) => {
                checks.push(DoctorCheck::broken(
                    "commands",
                    report::doctor::file_ignored(&custom.path(), &reason),
                ));
            }
        }
    }
    if !names.is_empty() {
        checks.push(DoctorCheck::ok("commands", names.join(", ")));
    }
    checks
}

/// Lists the skills, and invalid pages of them.
fn check_skills(folder: &FolderTrust, plugins: &[Arc<Plugin>]) -> Vec<DoctorCheck> {
    let skills = Skills::of_folder(|_| true, &folder.folder, folder.trust, plugins);
    let names = skills.names().collect::<Vec<_>>().join(", ");
    let known = (!names.is_empty()).then(|| DoctorCheck::ok("skills", names));
    let problems = skills.problems.iter().map(|reason| DoctorCheck::note("skills", reason.clone()));
    let paths = skills.paths().into_iter().map(|path| path_check("skill", &path));
    known.into_iter().chain(paths).chain(problems).collect()
}

/// A file that is in use.
fn path_check(what: &str, path: &Path) -> DoctorCheck {
    DoctorCheck::ok("path", report::doctor::path_status(what, path))
}

/// Lists the output styles, and invalid files of them.
fn check_styles(folder: &FolderTrust) -> Vec<DoctorCheck> {
    let styles = output_styles::load_styles(|_| true, folder);
    let names: Vec<&str> = styles.found.iter().map(|style| style.name.as_str()).collect();
    let known = (!names.is_empty()).then(|| DoctorCheck::ok("styles", names.join(", ")));
    let mut checks: Vec<DoctorCheck> = known.into_iter().collect();
    let SettingsFindings { errors, warnings, .. } = styles.findings;
    checks.extend(errors.into_iter().map(|reason| DoctorCheck::broken("styles", reason)));
    let notes = warnings.into_iter().chain(styles.problems);
    checks.extend(notes.map(|reason| DoctorCheck::note("styles", reason)));
    checks
}

fn check_config() -> DoctorCheck {
    match (config_toml::read(), paths::config_path()) {
        (Err(error), _) => DoctorCheck::broken("config", format!("{error:#}")),
        (Ok(_), Some(file)) => {
            DoctorCheck::ok("config", report::doctor::path_status("config", &file))
        }
        (Ok(_), None) => DoctorCheck::ok("config", report::doctor::NO_CONFIG),
    }
}

/// Reports each profile with which no run could start.
fn profiles(folder: &FolderTrust) -> Vec<DoctorCheck> {
    // An unreadable configuration is reported with its path.
    let Ok(config) = config_toml::read() else { return Vec::new() };
    let broken = |name: &str| {
        let error = setup::check_profile(name, &config, folder).err()?;
        Some(DoctorCheck::broken(
            "config",
            report::doctor::bad_profile(name, &format!("{error:#}")),
        ))
    };
    config.profile_names().iter().filter_map(|name| broken(name)).collect()
}

/// Reports how long data is kept that no conversation needs.
fn check_retention() -> Option<DoctorCheck> {
    let keep = config_toml::read().ok()?.keep.to_policy();
    Some(DoctorCheck::ok("retention", report::doctor::retention(&keep)))
}

/// Checks each existing settings file in the way a run checks it.
fn check_settings(texts: anyhow::Result<Vec<SettingsFile>>) -> Vec<DoctorCheck> {
    match texts {
        Ok(texts) => texts.iter().flat_map(check_settings_file).collect(),
        Err(error) => vec![DoctorCheck::broken("settings", format!("{error:#}"))],
    }
}

fn check_settings_file(text: &SettingsFile) -> Vec<DoctorCheck> {
    let file = Path::new(&text.location);
    let SettingsFindings { errors, warnings, without_effect } =
        settings_check::check_settings(&text.table);
    let at = |problem: &String| report::doctor::settings_problem(file, problem);
    let mut checks: Vec<DoctorCheck> =
        errors.iter().map(|error| DoctorCheck::broken("settings", at(error))).collect();
    checks.extend(warnings.iter().map(|warning| DoctorCheck::note("settings", at(warning))));
    if errors.is_empty() && warnings.is_empty() {
        checks.push(DoctorCheck::ok("settings", report::doctor::path_status("settings", file)));
    }
    if !without_effect.is_empty() {
        checks.push(DoctorCheck::note(
            "settings",
            report::doctor::settings_without_effect(file, &without_effect),
        ));
    }
    checks
}
