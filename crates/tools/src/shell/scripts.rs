//! The files that a command of the user runs, a hook for example. Writing them changes what runs.
//!
//! Not here: what such a file runs in turn.

use std::path::PathBuf;

use windlass_core::permission::{SimpleCommand, reads_programs};

use super::command_analysis::analyze_command;
use crate::files::PathZones;

/// The variable with the workspace of a hook, as commands write it.
const WORKSPACE: &[&str] = &[
    "\"$CLAUDE_PROJECT_DIR\"",
    "\"${CLAUDE_PROJECT_DIR}\"",
    "${CLAUDE_PROJECT_DIR}",
    "$CLAUDE_PROJECT_DIR",
];

/// Returns the files of the workspace that `command` runs: programs that it names with a folder,
/// whether they exist or not, and files that an interpreter or a shell is given.
#[must_use]
pub fn files_run_by(command: &str, zones: &PathZones) -> Vec<PathBuf> {
    let root = zones.root().display().to_string();
    let spelled = |text: String, name: &&str| text.replace(name, &root);
    let command = WORKSPACE.iter().fold(command.to_owned(), spelled);
    let shell = analyze_command(&command, zones);
    let files = shell.commands.iter().flat_map(|command| files_of(command, zones));
    files.filter(|file| file.starts_with(zones.root()) && !file.is_dir()).collect()
}

fn files_of(command: &SimpleCommand, zones: &PathZones) -> Vec<PathBuf> {
    let place = |word: &str| zones.root().join(word.trim_matches(['"', '\'']));
    let name = command.name();
    let program = Some(place(name)).filter(|file| name.contains('/') || file.is_file());
    let operands = command.words.iter().skip(1).filter(|_| reads_programs(name));
    let operands = operands.map(|word| place(word)).filter(|file| file.is_file());
    program.into_iter().chain(operands).collect()
}
