//! What a command could not do because of the sandbox, named so that a person can decide about it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_core::permission::{AddedAccess, PathAccess, PathZone};

use crate::files::{PathZones, lexical_absolute};
use crate::process::{CommandEnd, CommandExit};

/// What programs print, in lower case, when the sandbox keeps them from writing.
const READ_ONLY: &str = "read-only file system";

/// How many lines before that may name the path.
const LINES_BEFORE: usize = 4;

/// Folders where nothing can be added: they are no files, or all of the system.
const NEVER_WRITABLE: [&str; 4] = ["/dev", "/proc", "/sys", "/run"];

/// Returns a note about the hosts that a command was kept from reaching.
pub(super) fn blocked_hosts_note(hosts: &[String]) -> Option<String> {
    if hosts.is_empty() {
        return None;
    }
    let list = hosts.join(", ");
    Some(format!(
        "[the sandbox kept it from reaching {list}; a person can allow hosts with `hosts` in [sandbox] of config.toml]"
    ))
}

/// Returns a note about a path that a failed command says it could not write.
pub(super) fn unwritable_path_note(ended: &CommandEnd) -> Option<String> {
    let path = unwritable_path(ended)?;
    Some(format!(
        "[the sandbox lets commands write in the workspace and in temporary folders, and not to {path}; a person can allow more with `write` in [sandbox] of config.toml]"
    ))
}

/// Returns what a failed command was kept from, as far as a person can give it: hosts with their
/// ports, and files or folders outside that are not protected. A file that does not exist needs the
/// folder in which it would be made, and that is what the person is shown.
pub(super) fn blocked_access(ended: &CommandEnd, zones: &PathZones, folder: &Path) -> AddedAccess {
    let is_one_host = |host: &&String| !host.contains(|c: char| c.is_whitespace() || c == '\\');
    let hosts = ended.blocked_hosts.iter().filter(is_one_host).map(|host| Arc::from(&**host));
    let path = unwritable_path(ended).and_then(|path| writable_place(path, zones, folder));
    AddedAccess { hosts: hosts.collect(), write: path.into_iter().collect() }
}

/// Returns the path that a failed command says it could not write.
fn unwritable_path(ended: &CommandEnd) -> Option<&str> {
    if matches!(&ended.exit, CommandExit::Exited(status) if status.success()) {
        return None;
    }
    let lines: Vec<&str> = ended.output.lines().collect();
    let last = lines.iter().rposition(|line| line.to_lowercase().contains(READ_ONLY))?;
    let near = lines.get(last.saturating_sub(LINES_BEFORE)..=last)?;
    near.iter().rev().find_map(|line| named_path(line))
}

/// Returns the place that would have to be writable, with links resolved, if a person may give it.
fn writable_place(path: &str, zones: &PathZones, folder: &Path) -> Option<Arc<str>> {
    let named = lexical_absolute(folder, Path::new(path));
    // What existed when the command ended: a link is followed, as the command did.
    let place: PathBuf = named.ancestors().find_map(|place| place.canonicalize().ok())?;
    let text = place.to_str().filter(|text| !text.contains(char::is_control))?;
    let uses = zones.path_uses(text, PathAccess::Write);
    let is_possible = uses.iter().all(|used| used.zone == PathZone::Outside)
        && !zones.is_in_own_folder(&place)
        && !zones.is_private(&place)
        && !zones.contains_workspace_or_home(Path::new("/"), text)
        && !zones.has_private_beneath(Path::new("/"), text)
        && !NEVER_WRITABLE.iter().any(|never| place.starts_with(never));
    (is_possible && place.parent().is_some()).then(|| Arc::from(text))
}

/// Returns the path that an error message names: the last one in quotes, else the last absolute one
/// at the end of a part between colons.
fn named_path(line: &str) -> Option<&str> {
    let is_path = |word: &&str| {
        word.contains('/') && !word.contains("://") && Path::new(word).components().count() > 1
    };
    let quoted = line.split(['\'', '"', '\u{2018}', '\u{2019}', '`']).skip(1).step_by(2);
    let parts = line.split(": ").filter_map(absolute_end);
    quoted.filter(is_path).last().or_else(|| parts.filter(is_path).last())
}

/// Returns the absolute path at the end of a text: `cannot create /srv/x`.
fn absolute_end(text: &str) -> Option<&str> {
    let text = text.trim();
    let at = if text.starts_with('/') { 0 } else { text.find(" /")?.saturating_add(1) };
    text.get(at..)
}

#[cfg(test)]
#[path = "sandbox_notes_tests.rs"]
mod sandbox_notes_tests;
