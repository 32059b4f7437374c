//! `--workspace DIR` or `NAME=DIR`: the folder that tools work in, and the id under which workers of
//! other machines may serve it.

use std::path::Path;

use windlass::Workspace;

use super::trust::Trust;

/// Longest name of a workspace.
const MAX_NAME: usize = 64;

/// The name and the folder that were given. A folder whose own name has a `=` is given as `./a=b`.
pub(crate) fn split(given: &Path) -> (Option<&str>, &Path) {
    let parts = given.to_str().and_then(|text| text.split_once('='));
    match parts {
        Some((name, folder)) if is_name(name) && !folder.is_empty() => {
            (Some(name), Path::new(folder))
        }
        Some(_) | None => (None, given),
    }
}

fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=MAX_NAME).contains(&text.len()) && text != "." && text != ".." && text.chars().all(fits)
}

/// The workspace of a folder. The id that lies in it counts only where somebody trusts the folder:
/// whoever wrote the folder chose the id.
pub(crate) fn of(given: &Path, folder: &Path, trust: Trust) -> Workspace {
    let workspace = match trust {
        Trust::Given => Workspace::trusted(folder),
        Trust::Missing => Workspace::local(folder),
    };
    match split(given) {
        (Some(name), _) => workspace.known_as(&format!("name:{name}")),
        (None, _) => workspace,
    }
}
