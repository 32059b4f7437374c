//! What is said about trust in a folder.

use std::path::Path;

use crate::present::visible;
use crate::settle::grants::ProjectGrants;
use crate::settle::trust::FolderTrust;
use crate::show::harmless;
use crate::words::shell_word;

/// The answers to the question whether a folder is trusted.
pub(crate) const TRUST_CHOICES: &str = "[y] trust it  [n] go on without these settings:";

/// What a run in an untrusted folder says once.
pub(crate) fn untrusted(at: &FolderTrust) -> String {
    let folder = harmless(&at.folder.display().to_string()).replace('\n', "\u{fffd}");
    let trust = command(&at.folder);
    if let Some(why) = &at.grants.too_much {
        let why = too_much_to_trust(&at.folder, why);
        return format!("windlass: what its settings run or allow is ignored: {}", harmless(&why));
    }
    match at.changed.as_slice() {
        [] => format!(
            "windlass: {folder} is not trusted, so what its settings run or allow is ignored ({}); \
             look at it with `windlass doctor`, then trust the folder with `{trust}`",
            at.grants.counted()
        ),
        changed => format!(
            "windlass: {folder} changed since you trusted it ({}), so what its settings run or allow \
             is ignored ({}); look at it with `windlass doctor`, then trust the folder again with \
             `{trust}`",
            changed.join(", "),
            at.grants.counted()
        ),
    }
}

/// A folder that would run more than anybody can look at.
pub(crate) fn too_much_to_trust(folder: &Path, why: &str) -> String {
    format!(
        "{} cannot be trusted: its hooks, MCP servers and helpers run {why}, which is more than is \
         checked for changes; name fewer files in them",
        folder.display()
    )
}

/// The command that trusts a folder.
pub(crate) fn command(folder: &Path) -> String {
    format!("windlass trust {}", shell_word(&folder.display()))
}

/// The question itself.
pub(crate) fn trust_title(at: &FolderTrust) -> String {
    let folder = at.folder.display();
    match at.changed.as_slice() {
        [] => format!("Do you trust {folder}? Its settings would enable:"),
        changed => format!(
            "{folder} changed since you trusted it ({}). Do you still trust it? It would enable:",
            changed.join(", ")
        ),
    }
}

/// All that trust would enable, a line each.
pub(crate) fn trust_lines(grants: &ProjectGrants) -> Vec<String> {
    let mut lines = Vec::new();
    for kind in &grants.kinds {
        lines.push(format!("  {}", kind.name));
        // A command of several lines stays whole, each line below the other.
        let indented = |line: &String| format!("    {}", visible(line).replace('\n', "\n      "));
        lines.extend(kind.lines.iter().map(indented));
    }
    lines
}
