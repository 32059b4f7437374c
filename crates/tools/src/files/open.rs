//! Opening a file for reading, and nothing that only looks like one.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use windlass_core::outcome::ToolError;

use super::path::is_kernels;

/// Opens the regular file at `path`. It is looked at before it is opened, because opening a pipe
/// or a device is felt on the other side, and again once it is open, because what was checked must
/// be what is read. Opening never waits.
pub(super) fn regular(path: &Path) -> Result<File, ToolError> {
    let refused = |error: io::Error| refused(path, &error);
    if is_kernels(path) {
        return Err(special(path));
    }
    let real = fs::canonicalize(path).map_err(refused)?;
    if is_kernels(&real) {
        return Err(special(path));
    }
    check(path, &fs::metadata(&real).map_err(refused)?)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(&real, flags | OFlags::NOFOLLOW, Mode::empty());
    let file = File::from(opened.map_err(|error| refused(error.into()))?);
    check(path, &file.metadata().map_err(refused)?)?;
    Ok(file)
}

fn check(path: &Path, found: &fs::Metadata) -> Result<(), ToolError> {
    match (found.is_file(), found.is_dir()) {
        (true, _) => Ok(()),
        (_, true) => Err(directory(path)),
        _ => Err(special(path)),
    }
}

/// What went wrong, and what to do about it.
pub(super) fn refused(path: &Path, error: &io::Error) -> ToolError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => missing(path),
        io::ErrorKind::PermissionDenied => ToolError::new(
            "permission_denied",
            &format!("{} may not be read by this process", path.display()),
            "read another file, or ask the user for access",
        ),
        _ => ToolError::new(
            "read_failed",
            &format!("{} cannot be read: {error}", path.display()),
            "check the path, or try again with another file",
        ),
    }
}

fn missing(path: &Path) -> ToolError {
    let folder = path.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
    ToolError::new(
        "file_not_found",
        &format!("there is no file {}", path.display()),
        &format!("list the directory {} first and use a path found there", folder.display()),
    )
}

fn directory(path: &Path) -> ToolError {
    ToolError::new(
        "is_a_directory",
        &format!("{} is a directory", path.display()),
        "list it with Bash (ls) and read one of its files",
    )
}

fn special(path: &Path) -> ToolError {
    ToolError::new(
        "special_file",
        &format!("{} is not a regular file (a pipe, a device or the kernel's)", path.display()),
        "read a regular file; for the kernel's own files use Bash",
    )
}
