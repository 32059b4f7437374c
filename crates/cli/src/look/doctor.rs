//! Whether everything is in order: keys, store, disk, leftovers, configuration, paths. Each finding says that it is
//! fine or what to do. Nothing is changed, and nobody is asked over the network.

mod files;
mod keys;
mod leftovers;
mod paths;
mod processes;
mod storage;
mod words;

use std::path::Path;

use serde::Serialize;

use super::args::DoctorArgs;
use super::paper::{Ink, Paper};
use crate::settle::config;
use crate::setup;

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Health {
    /// Fine.
    Ok,
    /// Not broken, but somebody may want to do something.
    Note,
    /// It does not work like this.
    Broken,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    /// What.
    pub(crate) what: &'static str,
    /// How it is.
    pub(crate) health: Health,
    /// What was found, and what to do.
    pub(crate) says: String,
}

impl Check {
    fn ok(what: &'static str, says: impl Into<String>) -> Self {
        Self { what, health: Health::Ok, says: says.into() }
    }

    fn note(what: &'static str, says: impl Into<String>) -> Self {
        Self { what, health: Health::Note, says: says.into() }
    }

    fn broken(what: &'static str, says: impl Into<String>) -> Self {
        Self { what, health: Health::Broken, says: says.into() }
    }

    /// As one line.
    pub(crate) fn line(&self, paper: Paper) -> String {
        let (ink, word) = match self.health {
            Health::Ok => (Ink::Good, "ok"),
            Health::Note => (Ink::Notable, "note"),
            Health::Broken => (Ink::Bad, "BROKEN"),
        };
        let word = paper.ink(ink, &format!("{word:<6}"));
        format!("{word}  {:<10} {}", self.what, self.says)
    }
}

/// Looks at everything.
pub(crate) async fn examine(args: &DoctorArgs) -> Vec<Check> {
    let mut checks = keys::check();
    let place = setup::store_path(&args.store);
    match &place {
        Ok(place) => checks.extend(stored(place).await),
        // A configuration that cannot be read is told below, with its own name.
        Err(_) if config::read().is_err() => {}
        Err(error) => checks.push(Check::broken("store", format!("{error:#}"))),
    }
    checks.push(processes::check().await);
    checks.extend(processes::desks());
    checks.extend(files::check());
    checks.extend(place.iter().flat_map(|place| paths::check(place)));
    checks
}

async fn stored(place: &Path) -> Vec<Check> {
    if let Some(url) = setup::server(place) {
        return storage::server(url).await;
    }
    let mut checks = storage::check(place).await;
    checks.push(storage::disk(place));
    checks
}
