//! Checks of file types, and the errors about files.

use std::fs;
use std::io;
use std::path::Path;

use rustix::io::Errno;
use windlass_core::call::outcome::ToolError;
use windlass_runtime::locked_files::is_locked_file;

/// Rejects everything but a regular file, and the files of a store that this process has open.
pub(crate) fn check_regular_file(path: &Path, found: &fs::Metadata) -> Result<(), ToolError> {
    match (found.is_file(), found.is_dir()) {
        (true, _) if is_locked_file(found) => Err(own_store_error(path)),
        (true, _) => Ok(()),
        (_, true) => Err(directory_error(path)),
        _ => Err(special_file_error(path)),
    }
}

/// Returns an error that says what went wrong, and what to do about it.
pub(crate) fn file_error(path: &Path, error: &io::Error) -> ToolError {
    match error.kind() {
        _ if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => link_appeared_error(path),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => not_found_error(path),
        io::ErrorKind::PermissionDenied => ToolError::new(
            "permission_denied",
            &format!("permission denied: {}", path.display()),
            "use another file, or ask the user for access",
        ),
        _ => ToolError::new(
            "read_failed",
            &format!("{} cannot be read: {error}", path.display()),
            "check the path, or try again with another file",
        ),
    }
}

fn link_appeared_error(path: &Path) -> ToolError {
    ToolError::new(
        "path_changed",
        &format!(
            "the path {} changed while it was opened: it now contains a symbolic link",
            path.display()
        ),
        "check what is there now and use the real path",
    )
}

pub(crate) fn not_found_error(path: &Path) -> ToolError {
    let folder = path.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
    ToolError::new(
        "file_not_found",
        &format!("file not found: {}", path.display()),
        &format!("list the directory {} first and use a path found there", folder.display()),
    )
}

fn directory_error(path: &Path) -> ToolError {
    ToolError::new(
        "is_a_directory",
        &format!("{} is a directory", path.display()),
        "list it with Bash (ls) and use one of its files",
    )
}

pub(crate) fn special_file_error(path: &Path) -> ToolError {
    ToolError::new(
        "special_file",
        &format!("{} is not a regular file (pipe, device or kernel file)", path.display()),
        "use a regular file; for the kernel's own files use Bash",
    )
}

fn own_store_error(path: &Path) -> ToolError {
    ToolError::new(
        "own_store",
        &format!("{} belongs to the store that this program has open", path.display()),
        "read conversations with the commands of the program, such as `windlass show`",
    )
}

pub(crate) fn link_loop_error(path: &Path) -> ToolError {
    ToolError::new(
        "read_failed",
        &format!("{} cannot be read: its symbolic links form a loop", path.display()),
        "check the path, or try again with another file",
    )
}

pub(crate) fn outside_workspace_error(path: &Path, real: &Path) -> ToolError {
    ToolError::new(
        "outside_workspace",
        &format!("{} leads out of the workspace, to {}", path.display(), real.display()),
        "use the real path if you mean that file, so that it can be authorised",
    )
}
