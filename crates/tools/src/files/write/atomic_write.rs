//! Atomic writes: temporary file, fsync, rename. After a power cut the file has all of the new
//! contents or all of the old ones.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Uid};
use windlass_core::call::outcome::ToolError;

use super::content_hash;
use super::write_target::{FileSnapshot, file_changed_error};
use crate::files::file_errors::file_error;
use crate::files::paths::resolved_path::ResolvedPath;

/// Writes `bytes` to a temporary file beside the target, syncs it, and renames it to the target.
/// The target must still be `before`.
pub(crate) fn replace_atomically(
    resolved: &ResolvedPath,
    before: Option<&FileSnapshot>,
    bytes: &[u8],
) -> Result<(), ToolError> {
    let failed = |error: io::Error| write_error(resolved, &error);
    let (Some(folder), Some(name)) = (resolved.parent(), resolved.file_name()) else {
        return Err(file_error(&resolved.display_path, &io::ErrorKind::IsADirectory.into()));
    };
    let folder = folder.open_or_create_folder().map_err(failed)?;
    let temporary = TemporaryFile::create(&folder, bytes, before).map_err(failed)?;
    check_unchanged(resolved, before)?;
    temporary.rename_to(name, before).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => file_changed_error(&resolved.display_path),
        _ => failed(error),
    })?;
    sync_folder(&folder).map_err(failed)
}

/// Checks directly before the rename that the target is still the file that was authorised.
fn check_unchanged(
    resolved: &ResolvedPath,
    before: Option<&FileSnapshot>,
) -> Result<(), ToolError> {
    let Some(before) = before else { return Ok(()) };
    let mut file = resolved.open_file()?;
    let now = content_hash::hash_file(&mut file)
        .map_err(|error| file_error(&resolved.display_path, &error))?;
    match now.as_deref() == Some(&before.hash) {
        true => Ok(()),
        false => Err(file_changed_error(&resolved.display_path)),
    }
}

/// A temporary file, which is deleted unless it is renamed.
struct TemporaryFile<'f> {
    folder: &'f OwnedFd,
    name: String,
}

impl<'f> TemporaryFile<'f> {
    /// Creates the file. Its name is random and must not exist, so nothing can have been planted
    /// there.
    fn create(
        folder: &'f OwnedFd,
        bytes: &[u8],
        before: Option<&FileSnapshot>,
    ) -> io::Result<Self> {
        let name = format!(".windlass-{}", uuid::Uuid::now_v7().simple());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = if before.is_some() { Mode::from(0o600) } else { Mode::from(0o666) };
        let file = rustix::fs::openat(folder, &name, flags | OFlags::CLOEXEC, mode)?;
        let temporary = Self { folder, name };
        let mut file = File::from(file);
        file.write_all(bytes)?;
        if let Some(before) = before {
            copy_owner_and_mode(&file, before)?;
        }
        file.sync_all()?;
        Ok(temporary)
    }

    fn rename_to(&self, name: &OsStr, before: Option<&FileSnapshot>) -> io::Result<()> {
        // A file that did not exist must still not exist: otherwise it is not ours to replace.
        let flags = match before {
            Some(_) => RenameFlags::empty(),
            None => RenameFlags::NOREPLACE,
        };
        let (folder, from) = (self.folder, self.name.as_str());
        Ok(rustix::fs::renameat_with(folder, from, folder, name, flags)?)
    }
}

impl Drop for TemporaryFile<'_> {
    fn drop(&mut self) {
        // After the rename there is nothing of this name.
        rustix::fs::unlinkat(self.folder, self.name.as_str(), AtFlags::empty()).unwrap_or_default();
    }
}

/// Keeps the owner, as far as this process is allowed to, and the permissions of the file.
fn copy_owner_and_mode(file: &File, before: &FileSnapshot) -> io::Result<()> {
    let owner = Uid::from_raw(before.metadata.uid());
    let group = Gid::from_raw(before.metadata.gid());
    rustix::fs::fchown(file, Some(owner), Some(group)).unwrap_or_default();
    rustix::fs::fchmod(file, Mode::from_raw_mode(before.metadata.mode()))?;
    Ok(())
}

/// Syncs the folder, so that the rename survives too. The folder was opened as a path only and
/// cannot be synced itself.
fn sync_folder(folder: &OwnedFd) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(folder, ".", flags, Mode::empty())?;
    Ok(rustix::fs::fsync(folder)?)
}

fn write_error(resolved: &ResolvedPath, error: &io::Error) -> ToolError {
    ToolError::new(
        "write_failed",
        &format!(
            "{} could not be written: {error}; it is unchanged",
            resolved.display_path.display()
        ),
        "check the folder and the disk, or ask the user",
    )
}
