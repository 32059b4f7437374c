//! Errors of looking up a run or a conversation.

use std::path::Path;

/// Maximum number of ids named in an ambiguity error.
const MAX_NAMES: usize = 4;

/// Error: the id is empty.
pub(crate) const EMPTY_ID: &str = "the id is empty; give that of a run or a conversation, or none for the newest run of this folder";

/// Error: the store has no runs.
pub(crate) fn no_runs_for_id(id: &str) -> String {
    format!("no run `{id}`: there are no runs yet; start one with `windlass -p \"…\"`")
}

/// Error: no run or conversation has this id.
pub(crate) fn unknown_id(id: &str) -> String {
    format!("no run or conversation has the id `{id}`; list them with `windlass runs`")
}

/// Error: no run used this folder.
pub(crate) fn no_run_in_folder(folder: &Path) -> String {
    format!(
        "no run in {} yet; give an id (`windlass runs` lists them), or start one with \
         `windlass -p \"…\"`",
        folder.display()
    )
}

/// Error: several ids match.
pub(crate) fn ambiguous_id(id: &str, names: &[&str]) -> String {
    let shown: Vec<&str> = names.iter().take(MAX_NAMES).copied().collect();
    let more = if names.len() > MAX_NAMES { ", …" } else { "" };
    format!("`{id}` is ambiguous: it matches {}{more}; give more characters", shown.join(" and "))
}
