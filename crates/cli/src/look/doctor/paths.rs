//! Every path in use, and whether something is there.

use std::path::Path;

use super::{Check, words};
use crate::settle::paths;

/// Paths of this user. Those of files that are read stand beside what was found in them.
pub(super) fn check(store: &Path) -> Vec<Check> {
    let place = crate::words::without_password(&store.display().to_string());
    let mut checks = vec![Check::ok("path", words::path("store", Path::new(&place)))];
    let Ok(state) = paths::state() else { return checks };
    for (what, path) in [
        ("state", state.clone()),
        ("trusted folders", state.join("trusted")),
        ("what tools keep", state.join("desks")),
    ] {
        checks.push(Check::ok("path", words::path(what, &path)));
    }
    checks
}
