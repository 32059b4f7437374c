//! Files that are open in an editor: their text may differ from what is on disk, and a change shows
//! up in the editor only if it is made there.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;

use windlass_core::call::outcome::ToolError;

use super::file_errors::file_error;
use super::paths::resolved_path::ResolvedPath;
use super::read::file_kind::read_whole;
use super::write::content_hash;
use super::write::write_target::FileSnapshot;
use crate::limits::MAX_EDIT_BYTES;

/// The files of an editor. The methods are called on a thread that may block.
pub trait OpenFiles: Send + Sync {
    /// Returns the text of a file as the editor shows it; `None` if the editor does not tell.
    fn read_text(&self, path: &Path) -> Option<String>;

    /// Writes a file through the editor; `None` if the editor does not write files.
    ///
    /// # Errors
    ///
    /// Returns the reason that the editor gives.
    fn write_text(&self, path: &Path, text: &str) -> Option<Result<(), String>>;
}

/// Returns the file with the text that the editor shows, if that is another one than on disk.
pub(crate) fn with_shown_text(
    mut file: File,
    resolved: &ResolvedPath,
    open_files: &dyn OpenFiles,
) -> Result<File, ToolError> {
    let failed = |error: io::Error| file_error(&resolved.display_path, &error);
    if file.metadata().map_err(failed)?.len() > MAX_EDIT_BYTES {
        return Ok(file);
    }
    let bytes = read_whole(&file, &resolved.display_path, MAX_EDIT_BYTES)?;
    file.rewind().map_err(failed)?;
    match unsaved_text(&bytes, resolved, open_files) {
        Some(text) => file_of(&text).map_err(failed),
        None => Ok(file),
    }
}

/// Returns the snapshot with the text that the editor shows, if that is another one than on disk.
pub(crate) fn with_shown_snapshot(
    before: FileSnapshot,
    resolved: &ResolvedPath,
    open_files: &dyn OpenFiles,
) -> FileSnapshot {
    match unsaved_text(&before.bytes, resolved, open_files) {
        Some(text) => FileSnapshot {
            hash: content_hash::hash_bytes(text.as_bytes()),
            bytes: text.into_bytes(),
            ..before
        },
        None => before,
    }
}

/// Writes a text file through the editor. Returns whether it did.
pub(crate) fn write_shown(
    open_files: &dyn OpenFiles,
    resolved: &ResolvedPath,
    bytes: &[u8],
) -> Result<bool, ToolError> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(false) };
    if let Some(folder) = resolved.parent() {
        folder
            .open_or_create_folder()
            .map_err(|error| file_error(&resolved.display_path, &error))?;
    }
    match open_files.write_text(&resolved.real_path(), text) {
        None => Ok(false),
        Some(Ok(())) => Ok(true),
        Some(Err(reason)) => Err(ToolError::new(
            "editor_refused",
            &format!("the editor did not write {}: {reason}", resolved.display_path.display()),
            "read the file again, or ask the user",
        )),
    }
}

/// The text that the editor shows, unless the file has the same. Only text is compared: editors do
/// not show other files as they are.
fn unsaved_text(
    bytes: &[u8],
    resolved: &ResolvedPath,
    open_files: &dyn OpenFiles,
) -> Option<String> {
    let saved = std::str::from_utf8(bytes).ok()?;
    let path = resolved.real_path();
    if path.extension().is_some_and(|kind| kind == "ipynb") {
        return None;
    }
    let shown = open_files.read_text(&path)?;
    (plain(saved) != plain(&shown)).then_some(shown)
}

/// A text without what editors leave out: the byte order mark, and how lines end.
fn plain(text: &str) -> String {
    text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n")
}

/// A file without a name that has this text.
fn file_of(text: &str) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}
