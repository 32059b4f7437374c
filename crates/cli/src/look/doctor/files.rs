//! Files that people write: our configuration, settings and memory. One that cannot be understood
//! would stop every run, so it is told here with its place.

use std::path::{Path, PathBuf};

use windlass::core::permission::Rule;
use windlass::tools::HookConfig;

use super::{Check, words};
use crate::settle::sources::{self, Source};
use crate::settle::trust::{self, Trust};
use crate::settle::{agents, config, customs, memory, paths};

/// Every file that counts here.
pub(super) fn check() -> Vec<Check> {
    let mut checks = vec![configuration()];
    checks.extend(kept());
    let user = paths::shared_settings().map(|folder| folder.join("settings.json"));
    let own = ["settings.json", "settings.local.json"].map(|name| Path::new(".claude").join(name));
    let files: Vec<PathBuf> = user.into_iter().chain(own).collect();
    checks.extend(files.iter().filter_map(|file| settings(file)));
    let Ok(here) = Path::new(".").canonicalize() else { return checks };
    if here.join(".claude").exists() && trust::of(&here) == Trust::Missing {
        checks.push(Check::note("trust", words::untrusted(&here)));
    }
    for file in memory::files(&here) {
        checks.push(Check::ok("path", words::path("memory", &file.path)));
    }
    checks.extend(agents(&here));
    checks.extend(commands(&here));
    checks
}

/// The agents that children may be, and files that are none.
fn agents(here: &Path) -> Vec<Check> {
    let agents::Agents { found, problems } =
        agents::all(&agents::folders(|_| true, here, trust::of(here)));
    let names: Vec<&str> = found.iter().map(|agent| agent.name.as_str()).collect();
    let known = (!names.is_empty()).then(|| Check::ok("agents", words::agents(&names)));
    known.into_iter().chain(problems.into_iter().map(|why| Check::note("agents", why))).collect()
}

/// The commands that people wrote down, and pages that are none.
fn commands(here: &Path) -> Vec<Check> {
    let (mut names, mut checks) = (Vec::new(), Vec::new());
    for custom in customs::in_force(|_| true, here, trust::of(here)) {
        match custom.open() {
            Ok(_) => names.push(format!("/{}", custom.name)),
            Err(why) => checks.push(Check::note("commands", words::left_out(custom.path(), &why))),
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

/// How long rows are kept that no conversation needs.
fn kept() -> Option<Check> {
    let keep = config::read().ok()?.keep.settled();
    Some(Check::ok("kept", words::kept(&keep)))
}

/// A settings file that is there must say what it means.
fn settings(file: &Path) -> Option<Check> {
    Some(match sources::file(file) {
        Ok(None) => return None,
        Ok(Some(source)) => match problem(&source) {
            None => Check::ok("settings", words::path("settings", file)),
            Some(problem) => Check::broken("settings", words::bad_settings(file, &problem)),
        },
        Err(error) => Check::broken("settings", format!("{error:#}")),
    })
}

fn problem(source: &Source) -> Option<String> {
    let sources::Rules { allow, ask, deny, .. } = &source.permissions;
    let rules = allow.iter().chain(ask).chain(deny);
    let bad_rule = rules.filter_map(|rule| Rule::parse(rule).err()).next();
    let hooks = || match source.hooks.is_null() {
        true => None,
        false => HookConfig::parse(&source.hooks.to_string()).err(),
    };
    bad_rule.map(|bad| bad.to_string()).or_else(|| hooks().map(|bad| bad.to_string()))
}
