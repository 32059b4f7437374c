//! What a command could not do because of the sandbox, named so that a person can decide about it.

use std::path::Path;

use crate::process::{CommandEnd, CommandExit};

/// What programs print when the sandbox keeps them from writing.
const READ_ONLY: &str = "Read-only file system";

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
    if matches!(&ended.exit, CommandExit::Exited(status) if status.success()) {
        return None;
    }
    let line = ended.output.lines().rev().find(|line| line.contains(READ_ONLY))?;
    let path = named_path(line)?;
    Some(format!(
        "[the sandbox lets commands write in the workspace and in temporary folders, and not to {path}; a person can allow more with `write` in [sandbox] of config.toml]"
    ))
}

/// Returns the path that an error message names: quoted, or between colons.
fn named_path(line: &str) -> Option<&str> {
    let is_path = |word: &&str| word.contains('/') && Path::new(word).components().count() > 1;
    let quoted = line.split(['\'', '"', '\u{2018}', '\u{2019}', '`']);
    let parts = line.split(": ").map(str::trim);
    quoted.skip(1).step_by(2).chain(parts).find(|word| is_path(word) && !word.contains(' '))
}
