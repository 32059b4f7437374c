//! Opening a file for reading, and nothing that only looks like one.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use windlass_core::outcome::ToolError;

use super::path::is_kernels;

/// Opens the regular file at `path`. What was checked is what is read: the checks look at the
/// opened file. Opening does not wait, so a pipe without a writer cannot hold it.
pub(super) fn regular(path: &Path) -> Result<File, ToolError> {
    let real = fs::canonicalize(path).map_err(|error| refused(path, &error))?;
    if is_kernels(path) || is_kernels(&real) {
        return Err(special(path));
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(&real, flags | OFlags::NOFOLLOW, Mode::empty());
    let file = File::from(opened.map_err(|error| refused(path, &error.into()))?);
    let kind = file.metadata().map_err(|error| refused(path, &error))?.file_type();
    match (kind.is_file(), kind.is_dir()) {
        (true, _) => Ok(file),
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
        // A socket cannot be opened at all.
        _ if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => special(path),
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
