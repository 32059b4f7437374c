//! Every path in use, and whether something is there.

use std::path::{Path, PathBuf};

use super::{Check, words};
use crate::settle::paths;

/// The largest settings file that is looked into.
const SETTINGS_BYTES: u64 = 1 << 20;

/// Paths of this user and of the folder we are in.
pub(super) fn check(store: &Path) -> Vec<Check> {
    let mut checks = vec![Check::ok("path", words::path("store", store))];
    if let Ok(state) = paths::state() {
        checks.push(Check::ok("path", words::path("state", &state)));
    }
    if let Some(file) = paths::config() {
        checks.push(Check::ok("path", words::path("config", &file)));
    }
    for folder in paths::shared_settings().into_iter().chain([PathBuf::from(".claude")]) {
        checks.extend(settings(&folder.join("settings.json")));
    }
    checks
}

/// A settings file that is there must be JSON.
fn settings(file: &Path) -> Option<Check> {
    let size = file.metadata().ok()?.len();
    if size > SETTINGS_BYTES {
        return Some(Check::broken("settings", words::too_large(file)));
    }
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            return Some(Check::broken("settings", words::unreadable(file, &error.to_string())));
        }
    };
    Some(match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(_) => Check::ok("settings", words::path("settings", file)),
        Err(error) => Check::broken("settings", words::bad_json(file, &error.to_string())),
    })
}
