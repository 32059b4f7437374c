//! `windlass doctor`: checks keys, store, disk, unfinished runs, configuration and paths. Each
//! check says that it is fine or what to do. Nothing is changed, and no network request is made,
//! except to the server of a store.

mod api_keys;
mod config_files;
mod mcp_servers;
mod paths;
mod processes;
mod sandbox;
mod store_checks;
mod unfinished_runs;

use std::path::Path;

use serde::Serialize;

use crate::args::inspect_args::DoctorArgs;
use crate::config::config_toml;
use crate::setup;
use crate::terminal::{Color, OutputStyle};

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckHealth {
    /// No problem was found.
    Ok,
    /// Works, but deserves attention.
    Note,
    /// Does not work.
    Broken,
}

/// One check of `windlass doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct DoctorCheck {
    /// The name of the check.
    pub(crate) name: &'static str,
    /// The result of the check.
    pub(crate) health: CheckHealth,
    /// What was found, and what to do.
    pub(crate) message: String,
}

impl DoctorCheck {
    fn ok(name: &'static str, says: impl Into<String>) -> Self {
        Self { name, health: CheckHealth::Ok, message: says.into() }
    }

    fn note(name: &'static str, says: impl Into<String>) -> Self {
        Self { name, health: CheckHealth::Note, message: says.into() }
    }

    fn broken(name: &'static str, says: impl Into<String>) -> Self {
        Self { name, health: CheckHealth::Broken, message: says.into() }
    }

    /// Renders the check as one line.
    pub(crate) fn to_line(&self, style: OutputStyle) -> String {
        let (ink, word) = match self.health {
            CheckHealth::Ok => (Color::Green, "ok"),
            CheckHealth::Note => (Color::Yellow, "note"),
            CheckHealth::Broken => (Color::Red, "BROKEN"),
        };
        let word = style.paint(ink, &format!("{word:<6}"));
        format!("{word}  {:<10} {}", self.name, self.message)
    }
}

/// Runs all checks.
pub(crate) async fn run_checks(args: &DoctorArgs) -> Vec<DoctorCheck> {
    let mut checks = api_keys::check();
    let place = setup::store_path(&args.store);
    match &place {
        Ok(path) => checks.extend(check_store(path).await),
        // An unreadable configuration is reported below, with its path.
        Err(_) if config_toml::read().is_err() => {}
        Err(error) => checks.push(DoctorCheck::broken("store", format!("{error:#}"))),
    }
    checks.push(processes::check().await);
    checks.extend(processes::check_scratch_space());
    let files = config_files::check();
    // A file that is broken is reported once, and says nothing about the sandbox.
    if files.iter().all(|check| check.health != CheckHealth::Broken) {
        checks.push(sandbox::check(&args.store).await);
    }
    checks.extend(files);
    checks.extend(mcp_servers::check(&args.store).await);
    checks.extend(place.iter().flat_map(|path| paths::check(path)));
    checks
}

async fn check_store(path: &Path) -> Vec<DoctorCheck> {
    if let Some(url) = setup::server_address(path) {
        return store_checks::check_server(url).await;
    }
    let mut checks = store_checks::check(path).await;
    checks.push(store_checks::check_disk(path));
    checks
}
