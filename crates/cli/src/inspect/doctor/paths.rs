//! Paths in use, and whether they exist.

use std::path::Path;

use super::DoctorCheck;
use crate::config::paths;
use crate::messages::report;
use crate::setup;

/// Lists the paths of this user. Paths of files that are checked are listed with their check.
pub(super) fn check(store: &Path) -> Vec<DoctorCheck> {
    // A server has no path; whether it responds is reported above.
    let mut checks = match setup::server_address(store) {
        Some(_) => Vec::new(),
        None => vec![DoctorCheck::ok("path", report::doctor::path_status("store", store))],
    };
    let Ok(state) = paths::state_folder() else { return checks };
    for (what, path) in [
        ("state", state.clone()),
        ("trusted folders", state.join("trust.json")),
        ("state of tools", paths::tool_state_folder(&state)),
    ] {
        checks.push(DoctorCheck::ok("path", report::doctor::path_status(what, &path)));
    }
    checks
}
