//! A file about to be written: its snapshot and whether it may be changed.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use windlass_core::call::outcome::ToolError;

use super::content_hash;
use crate::files::file_errors::file_error;
use crate::files::open_files;
use crate::files::paths::path_zones::PathZones;
use crate::files::paths::resolved_path::ResolvedPath;
use crate::files::read::file_kind::read_whole;
use crate::limits::MAX_EDIT_BYTES;
use crate::tool_context::ToolContext;
use crate::tool_context::tool_state::ToolState;

/// The state of a file before a change.
#[derive(Debug)]
pub(crate) struct FileSnapshot {
    pub(crate) bytes: Vec<u8>,
    pub(crate) hash: String,
    pub(crate) metadata: Metadata,
}

/// Resolves the path of a file that may be changed.
pub(crate) fn resolve_writable(zones: &PathZones, path: &str) -> Result<ResolvedPath, ToolError> {
    let resolved = zones.resolve(path)?;
    match zones.is_protected_real(&resolved.real_path())
        || zones.is_protected_real(&resolved.display_path)
    {
        true => Err(protected_path_error(&resolved.display_path)),
        false => Ok(resolved),
    }
}

/// Reads the current state of the file, if it exists.
pub(crate) fn read_snapshot(resolved: &ResolvedPath) -> Result<Option<FileSnapshot>, ToolError> {
    let file = match resolved.open_file() {
        Err(error) if &*error.code == "file_not_found" => return Ok(None),
        opened => opened?,
    };
    let metadata = file.metadata().map_err(|error| file_error(&resolved.display_path, &error))?;
    if metadata.nlink() > 1 {
        return Err(hard_link_error(&resolved.display_path));
    }
    // A rename would replace it despite its permissions, so they are checked here.
    if metadata.permissions().readonly() {
        return Err(read_only_error(&resolved.display_path));
    }
    let bytes = read_whole(&file as &File, &resolved.display_path, MAX_EDIT_BYTES)?;
    Ok(Some(FileSnapshot { hash: content_hash::hash_bytes(&bytes), bytes, metadata }))
}

/// Reads the current state of the file, with the text that an editor shows.
pub(crate) fn read_shown_snapshot(
    tool_context: &ToolContext,
    resolved: &ResolvedPath,
) -> Result<Option<FileSnapshot>, ToolError> {
    let before = read_snapshot(resolved)?;
    Ok(match (before, tool_context.open_files()) {
        (Some(before), Some(open_files)) => {
            Some(open_files::with_shown_snapshot(before, resolved, open_files))
        }
        (before, _) => before,
    })
}

/// Checks that the file was read and has not changed since: only then it may be overwritten.
pub(crate) fn check_was_read(
    state: &ToolState,
    resolved: &ResolvedPath,
    before: &FileSnapshot,
) -> Result<(), ToolError> {
    match state.last_read_hash(&resolved.real_path()) {
        Some(hash) if hash == before.hash => Ok(()),
        Some(_) => Err(file_changed_error(&resolved.display_path)),
        None => Err(not_read_error(&resolved.display_path)),
    }
}

/// Returns the error for a file that was changed by another process.
pub(crate) fn file_changed_error(path: &Path) -> ToolError {
    ToolError::new(
        "file_changed",
        &format!("{} has changed since it was read", path.display()),
        "read it again, then make the change that is still needed",
    )
}

fn not_read_error(path: &Path) -> ToolError {
    ToolError::new(
        "file_not_read",
        &format!("{} exists and was not read in this conversation", path.display()),
        "read it first",
    )
}

fn protected_path_error(path: &Path) -> ToolError {
    ToolError::new(
        "protected_path",
        &format!("{} controls what may run; tools may not change it", path.display()),
        "ask the user to change it",
    )
}

fn read_only_error(path: &Path) -> ToolError {
    ToolError::new(
        "read_only",
        &format!("{} is read-only", path.display()),
        "leave it, or ask the user; chmod makes it writable",
    )
}

fn hard_link_error(path: &Path) -> ToolError {
    ToolError::new(
        "hard_linked",
        &format!("{} has other hard links; replacing it would break them", path.display()),
        "write to a new file, or ask the user",
    )
}
