//! Files that people write: our configuration, settings and memory. One that cannot be understood
//! would stop every run, so it is told here with its place.

use std::path::Path;

use super::{Check, words};
use crate::settle::settings_check::{self, SettingsFindings};
use crate::settle::sources::{self, SettingsText};
use crate::settle::trust::{FolderTrust, Trust};
use crate::settle::{agents, config, customs, memory, paths};
use crate::setup;
use crate::show::harmless;

/// Every file that counts here.
pub(super) fn check() -> Vec<Check> {
    let mut checks = vec![configuration()];
    checks.extend(kept());
    checks.extend(settings(sources::of_user().map(|text| text.into_iter().collect())));
    let Ok(here) = Path::new(".").canonicalize() else { return checks };
    let folder = match FolderTrust::look(&here, |_| true) {
        Ok(folder) => folder,
        Err(error) => {
            checks.push(Check::broken("settings", format!("{error:#}")));
            return checks;
        }
    };
    checks.extend(profiles(&folder));
    checks.extend(settings(Ok(folder.texts.clone())));
    checks.extend(trust(&folder));
    let memory = memory::files(&folder);
    for file in memory.files {
        checks.push(Check::ok("path", words::path("memory", &file.path)));
    }
    checks.extend(memory.problems.into_iter().map(|why| Check::note("memory", why)));
    checks.extend(agents(&folder));
    checks.extend(commands(&folder));
    checks
}

/// Whether the folder is trusted, and what that enables or would enable.
fn trust(folder: &FolderTrust) -> Vec<Check> {
    let lines = crate::words::trust_lines(&folder.grants);
    let lines: String =
        lines.iter().map(|line| format!("\n          {}", harmless(line))).collect();
    match folder.trust {
        Trust::Given => vec![Check::ok("trust", words::trusted(&folder.folder) + &lines)],
        Trust::Missing if folder.ignores_something() => {
            vec![Check::note("trust", words::untrusted(folder) + &lines)]
        }
        Trust::Missing => Vec::new(),
    }
}

/// The agents that children may be, and files that are none.
fn agents(folder: &FolderTrust) -> Vec<Check> {
    let agents::Agents { found, problems, findings } =
        agents::all(&agents::files(|_| true, &folder.folder, folder.trust));
    let names: Vec<&str> = found.iter().map(|agent| agent.name.as_str()).collect();
    let known = (!names.is_empty()).then(|| Check::ok("agents", words::agents(&names)));
    let mut checks: Vec<Check> = known.into_iter().collect();
    checks.extend(findings.errors.into_iter().map(|why| Check::broken("agents", why)));
    checks.extend(findings.warnings.into_iter().map(|why| Check::note("agents", why)));
    checks.extend(problems.into_iter().map(|why| Check::note("agents", why)));
    checks
}

/// The commands that people wrote down, and pages that are none.
fn commands(folder: &FolderTrust) -> Vec<Check> {
    let (mut names, mut checks) = (Vec::new(), Vec::new());
    for custom in customs::in_force(|_| true, &folder.folder, folder.trust) {
        match custom.open() {
            Ok(page) => {
                let told = |why: &String| format!("{} {why}", custom.path().display());
                checks.extend(page.warnings.iter().map(|why| Check::note("commands", told(why))));
                names.push(format!("/{}", custom.name));
            }
            Err(why) => {
                checks.push(Check::broken("commands", words::left_out(&custom.path(), &why)));
            }
        }
    }
    if !names.is_empty() {
        checks.push(Check::ok("commands", names.join(", ")));
    }
    checks
}

fn configuration() -> Check {
    match (config::read(), paths::config()) {
        (Err(error), _) => Check::broken("config", format!("{error:#}")),
        (Ok(_), Some(file)) => Check::ok("config", words::path("config", &file)),
        (Ok(_), None) => Check::ok("config", words::NO_CONFIG),
    }
}

/// Each profile with which a run could not begin.
fn profiles(folder: &FolderTrust) -> Vec<Check> {
    // A configuration that cannot be read is told with its own name.
    let Ok(config) = config::read() else { return Vec::new() };
    let broken = |name: &str| {
        let error = setup::check_profile(name, &config, folder).err()?;
        Some(Check::broken("config", words::bad_profile(name, &format!("{error:#}"))))
    };
    config.profile_names().iter().filter_map(|name| broken(name)).collect()
}

/// How long rows are kept that no conversation needs.
fn kept() -> Option<Check> {
    let keep = config::read().ok()?.keep.settled();
    Some(Check::ok("retention", words::kept(&keep)))
}

/// Each settings file that is there, judged as a run judges it.
fn settings(texts: anyhow::Result<Vec<SettingsText>>) -> Vec<Check> {
    match texts {
        Ok(texts) => texts.iter().flat_map(settings_file).collect(),
        Err(error) => vec![Check::broken("settings", format!("{error:#}"))],
    }
}

fn settings_file(text: &SettingsText) -> Vec<Check> {
    let file = Path::new(&text.place);
    let SettingsFindings { errors, warnings, without_effect } = settings_check::check(&text.table);
    let at = |problem: &String| words::bad_settings(file, problem);
    let mut checks: Vec<Check> =
        errors.iter().map(|error| Check::broken("settings", at(error))).collect();
    checks.extend(warnings.iter().map(|warning| Check::note("settings", at(warning))));
    if errors.is_empty() && warnings.is_empty() {
        checks.push(Check::ok("settings", words::path("settings", file)));
    }
    if !without_effect.is_empty() {
        checks.push(Check::note("settings", words::without_effect(file, &without_effect)));
    }
    checks
}
