//! `--workspace DIR` or `NAME=DIR`: the folder that tools work in, and the id under which workers
//! of other machines may serve it.

use std::path::Path;

use windlass::Workspace;

use crate::config::trust::folder_trust::TrustState;

/// Maximum characters of a workspace name.
const MAX_NAME_CHARS: usize = 64;

/// Splits the given name from the folder. A folder whose own name has a `=` is given as `./a=b`.
pub(crate) fn split_name(given: &Path) -> (Option<&str>, &Path) {
    let parts = given.to_str().and_then(|text| text.split_once('='));
    match parts {
        Some((name, folder)) if is_workspace_name(name) && !folder.is_empty() => {
            (Some(name), Path::new(folder))
        }
        Some(_) | None => (None, given),
    }
}

fn is_workspace_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=MAX_NAME_CHARS).contains(&text.len())
        && text != "."
        && text != ".."
        && text.chars().all(fits)
}

/// Resolves the workspace of a folder. The id stored in the folder is used only if the folder is
/// trusted: the author of the folder chose the id.
pub(crate) fn resolve_workspace(given: &Path, folder: &Path, trust: TrustState) -> Workspace {
    let workspace = match trust {
        TrustState::Trusted => Workspace::from_trusted_folder(folder),
        TrustState::Untrusted => Workspace::from_folder(folder),
    };
    match split_name(given) {
        (Some(name), _) => workspace.with_id(&format!("name:{name}")),
        (None, _) => workspace,
    }
}
