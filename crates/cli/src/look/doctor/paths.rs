//! Every path in use, and whether something is there.

use std::path::Path;

use super::{Check, words};
use crate::settle::paths;
use crate::setup;

/// Paths of this user. Those of files that are read stand beside what was found in them.
pub(super) fn check(store: &Path) -> Vec<Check> {
    // A server is no path; that it answers is said above.
    let mut checks = match setup::server(store) {
        Some(_) => Vec::new(),
        None => vec![Check::ok("path", words::path("store", store))],
    };
    let Ok(state) = paths::state() else { return checks };
    for (what, path) in [
        ("state", state.clone()),
        ("trusted folders", state.join("trust.json")),
        ("scratch space of tools", state.join("desks")),
    ] {
        checks.push(Check::ok("path", words::path(what, &path)));
    }
    checks
}
