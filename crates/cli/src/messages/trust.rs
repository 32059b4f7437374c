//! Messages about folder trust.

use std::path::Path;

use crate::config::trust::folder_trust::FolderTrust;
use crate::config::trust::project_grants::ProjectGrants;
use crate::messages::shell_word;
use crate::terminal::{escape_invisible, sanitize_text};

/// The answers to the question whether a folder is trusted.
pub(crate) const TRUST_CHOICES: &str = "[y] trust it  [n] continue without these settings:";

/// What `?` prints at the trust question.
pub(crate) const TRUST_CHOICES_HELP: &str = "y   apply the settings listed above until they change
n   ignore them; you are asked again when something changes";

/// The message that a run in an untrusted folder prints once.
pub(crate) fn folder_untrusted(at: &FolderTrust) -> String {
    let folder = folder_name(&at.folder);
    let trust = trust_command(&at.folder);
    if let Some(reason) = &at.grants.too_much {
        let reason = too_much_to_trust(&at.folder, reason);
        return format!(
            "windlass: the grants of its settings are ignored: {}",
            sanitize_text(&reason)
        );
    }
    match at.changed.as_slice() {
        [] => format!(
            "windlass: {folder} is not trusted, so its hooks, allow rules and other grants are ignored ({}); review them with `windlass doctor`, then run `{trust}`",
            at.grants.summarize()
        ),
        changed => format!(
            "windlass: {folder} changed since you trusted it ({}), so its hooks, allow rules and other grants are ignored ({}); review them with `windlass doctor`, then run `{trust}`",
            changed.join(", "),
            at.grants.summarize()
        ),
    }
}

/// The path of a folder on one line: a line break in its name is no line of ours.
pub(crate) fn folder_name(folder: &Path) -> String {
    escape_invisible(&folder.display().to_string()).replace('\n', "\\n")
}

/// A folder that would run more than can be reviewed.
pub(crate) fn too_much_to_trust(folder: &Path, reason: &str) -> String {
    format!(
        "{} cannot be trusted: its hooks, MCP servers and helpers run {reason}, which is more than is \
         checked for changes; name fewer files in them",
        folder_name(folder)
    )
}

/// The command that trusts a folder.
pub(crate) fn trust_command(folder: &Path) -> String {
    format!("windlass trust {}", shell_word(&folder.display()))
}

/// The question whether a folder is trusted.
pub(crate) fn trust_question(at: &FolderTrust) -> String {
    let folder = folder_name(&at.folder);
    match at.changed.as_slice() {
        [] => format!("Do you trust {folder}? Its settings would enable:"),
        changed => format!(
            "{folder} changed since you trusted it ({}). Do you still trust it? It would enable:",
            changed.join(", ")
        ),
    }
}

/// All grants that trust would enable, one per line.
pub(crate) fn grant_lines(grants: &ProjectGrants) -> Vec<String> {
    let mut lines = Vec::new();
    for kind in &grants.kinds {
        lines.push(format!("  {}", kind.name));
        // A command of several lines stays complete, with its lines indented.
        let indented =
            |line: &String| format!("    {}", escape_invisible(line).replace('\n', "\n      "));
        lines.extend(kind.lines.iter().map(indented));
    }
    lines
}
