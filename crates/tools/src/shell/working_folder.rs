//! The working folder of a conversation's commands.
//!
//! Every call is a new shell; only the folder in which the last one ended is kept. It applies from
//! the next reply on: calls of one reply are authorised before the first of them runs, so all of
//! them begin in the folder for which they were authorised.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass_core::log::ids::ModelCallId;

use crate::files::PathZones;
use crate::tool_context::tool_state::ToolState;

/// The last change of the working folder.
#[derive(Debug, Serialize, Deserialize)]
struct FolderChange {
    /// The model call whose reply changed the folder.
    model_call: ModelCallId,
    /// The folder in which calls of later replies begin.
    to: PathBuf,
    /// The folder in which the other calls of the same reply begin.
    from: PathBuf,
}

const FOLDER_NOTE: &str = "folder";

/// Returns the folder in which a call of the current reply begins.
pub(super) fn current_folder(state: &ToolState, zones: &PathZones) -> PathBuf {
    folder_for_reply(state, zones, ModelCallId::MAX)
}

/// Returns the folder in which a call of this reply begins. If the folder is missing by now, or no
/// longer part of the session, it is the workspace.
pub(super) fn folder_for_reply(
    state: &ToolState,
    zones: &PathZones,
    model_call: ModelCallId,
) -> PathBuf {
    let folder = state.read_note::<FolderChange>(FOLDER_NOTE).map(|moved| {
        match moved.model_call < model_call {
            true => moved.to,
            false => moved.from,
        }
    });
    folder
        .filter(|folder| is_usable_folder(folder, zones))
        .unwrap_or_else(|| zones.root().to_owned())
}

/// How a command changed its working folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FolderMove {
    /// The folder is unchanged or unknown.
    Unchanged,
    /// The command changed to another folder of the session.
    MovedTo(PathBuf),
    /// The command left the session's folders: the next one begins in the workspace.
    LeftWorkspace(PathBuf),
}

/// Makes an empty file to which a shell writes its final folder.
pub(super) fn new_folder_file(state: &ToolState) -> Option<PathBuf> {
    let path = state.note_path("ended-in").ok()?;
    // The file may be left from a command that was interrupted.
    fs::remove_file(&path).unwrap_or_default();
    // It exists before the shell does, so that a sandbox can let the shell write it alone.
    fs::File::create_new(&path).ok()?;
    Some(path)
}

/// Reads the folder in which a command ended, and records it.
pub(super) fn record_final_folder(
    state: &ToolState,
    zones: &PathZones,
    model_call: ModelCallId,
    said: Option<&Path>,
    from: &Path,
) -> FolderMove {
    let said = said.and_then(read_folder_file);
    let went = match said {
        Some(to) if to == from => FolderMove::Unchanged,
        Some(to) if is_usable_folder(&to, zones) => FolderMove::MovedTo(to),
        Some(to) => FolderMove::LeftWorkspace(to),
        None => FolderMove::Unchanged,
    };
    let to = match &went {
        FolderMove::Unchanged => return went,
        FolderMove::MovedTo(folder) => folder.clone(),
        FolderMove::LeftWorkspace(_) => zones.root().to_owned(),
    };
    // Without the note the next command begins where this one did.
    state
        .write_note(FOLDER_NOTE, &FolderChange { model_call, to, from: from.to_owned() })
        .unwrap_or_default();
    went
}

/// Reads the folder that a shell wrote, and deletes the file.
fn read_folder_file(file: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(file).ok()?;
    fs::remove_file(file).unwrap_or_default();
    let folder = PathBuf::from(text.strip_suffix('\n')?);
    folder.is_absolute().then_some(folder)
}

fn is_usable_folder(folder: &Path, zones: &PathZones) -> bool {
    let real = folder.canonicalize().ok();
    real.is_some_and(|real| {
        real == folder && real.is_dir() && zones.root_containing(&real).is_some()
    })
}
