//! Putting new contents in the place of old ones: all of them or none, whenever the power goes.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Uid};
use windlass_core::outcome::ToolError;

use super::digest;
use super::open::refused;
use super::place::Place;
use super::target::{Before, changed};

/// Writes `bytes` to a file beside the place, brings it to the disk, and gives it the place's name.
/// What stood there must still be `before`.
pub(super) fn replace(
    place: &Place,
    before: Option<&Before>,
    bytes: &[u8],
) -> Result<(), ToolError> {
    let failed = |error: io::Error| not_written(place, &error);
    let (Some(folder), Some(name)) = (place.folder(), place.name()) else {
        return Err(refused(&place.shown, &io::ErrorKind::IsADirectory.into()));
    };
    let folder = folder.open_folder().map_err(failed)?;
    let temporary = Temporary::write(&folder, bytes, before).map_err(failed)?;
    check_still(place, before)?;
    temporary.take_name(name, before).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => changed(&place.shown),
        _ => failed(error),
    })?;
    sync_folder(&folder).map_err(failed)
}

/// The last look before the names change: what was judged must be what is replaced.
fn check_still(place: &Place, before: Option<&Before>) -> Result<(), ToolError> {
    let Some(before) = before else { return Ok(()) };
    let mut file = place.open_file()?;
    let now = digest::of_file(&mut file).map_err(|error| refused(&place.shown, &error))?;
    match now.as_deref() == Some(&before.hash) {
        true => Ok(()),
        false => Err(changed(&place.shown)),
    }
}

/// A file under a name of its own, gone if it does not get another.
struct Temporary<'f> {
    folder: &'f OwnedFd,
    name: String,
}

impl<'f> Temporary<'f> {
    /// The name cannot be guessed and must not exist, so nobody has put anything in its place.
    fn write(folder: &'f OwnedFd, bytes: &[u8], before: Option<&Before>) -> io::Result<Self> {
        let name = format!(".windlass-{}", uuid::Uuid::now_v7().simple());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = if before.is_some() { Mode::from(0o600) } else { Mode::from(0o666) };
        let file = rustix::fs::openat(folder, &name, flags | OFlags::CLOEXEC, mode)?;
        let temporary = Self { folder, name };
        let mut file = File::from(file);
        file.write_all(bytes)?;
        if let Some(before) = before {
            keep_rights(&file, before)?;
        }
        file.sync_all()?;
        Ok(temporary)
    }

    fn take_name(&self, name: &OsStr, before: Option<&Before>) -> io::Result<()> {
        // A file that did not exist must still not: then it is not for us to replace.
        let flags = match before {
            Some(_) => RenameFlags::empty(),
            None => RenameFlags::NOREPLACE,
        };
        let (folder, from) = (self.folder, self.name.as_str());
        Ok(rustix::fs::renameat_with(folder, from, folder, name, flags)?)
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        // After the renaming there is nothing of this name.
        rustix::fs::unlinkat(self.folder, self.name.as_str(), AtFlags::empty()).unwrap_or_default();
    }
}

/// The file stays whose it was, as far as we may say so, and as open as it was.
fn keep_rights(file: &File, before: &Before) -> io::Result<()> {
    let owner = Uid::from_raw(before.found.uid());
    let group = Gid::from_raw(before.found.gid());
    rustix::fs::fchown(file, Some(owner), Some(group)).unwrap_or_default();
    rustix::fs::fchmod(file, Mode::from_raw_mode(before.found.mode()))?;
    Ok(())
}

/// The new name must survive too. The folder was opened to be looked through, not to be read.
fn sync_folder(folder: &OwnedFd) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(folder, ".", flags, Mode::empty())?;
    Ok(rustix::fs::fsync(folder)?)
}

fn not_written(place: &Place, error: &io::Error) -> ToolError {
    ToolError::new(
        "write_failed",
        &format!("{} could not be written: {error}; it is as it was", place.shown.display()),
        "check the folder and the disk, or ask the user",
    )
}
