//! Mount points for protected paths that do not exist: empty folders, removed after the call. A
//! `commondir` of a git folder is a file that says what git assumes without it.
//!
//! Several calls may need the same one at once, and removing a mount point would take the mount of
//! the others away. So each holds a shared lock, and the last one removes the folder.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// The mode of a mount point, by which one that was left behind is known.
const MOUNT_POINT_MODE: u32 = 0o555;

/// The mode of a `commondir` that a call has made.
const COMMON_DIR_MODE: u32 = 0o444;

/// What a `commondir` says that changes nothing: the folder itself.
const OWN_FOLDER: &[u8] = b".\n";

/// How often a folder is made again that another call removes at that moment.
const MAX_ATTEMPTS: usize = 100;

/// The folders that were made.
#[derive(Debug, Default)]
pub(super) struct AbsentPaths(Vec<(PathBuf, File)>);

impl AbsentPaths {
    /// Makes a folder for each of the paths that does not exist and could be created.
    pub(super) fn create(paths: &[PathBuf]) -> io::Result<Self> {
        let mut made = Self::default();
        for path in paths {
            match made.create_one(path) {
                Ok(()) => {}
                Err(error) => {
                    made.remove();
                    let path = path.display();
                    return Err(io::Error::other(format!("{path} cannot be protected: {error}")));
                }
            }
        }
        Ok(made)
    }

    fn create_one(&mut self, path: &Path) -> io::Result<()> {
        for _ in 0..MAX_ATTEMPTS {
            match create_mount_point(path) {
                Ok(()) => {}
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists && is_mount_point(path) => {}
                // It exists, or it could not be created inside either.
                Err(_) => return Ok(()),
            }
            let Ok(folder) = File::open(path) else { continue };
            flock(&folder, FlockOperation::LockShared)?;
            let held = folder.metadata()?;
            let is_same = |now: fs::Metadata| (now.dev(), now.ino()) == (held.dev(), held.ino());
            if fs::symlink_metadata(path).is_ok_and(is_same) {
                self.0.push((path.to_owned(), folder));
                return Ok(());
            }
        }
        Err(io::Error::other("it comes and goes"))
    }

    /// Removes the folders that no other call needs.
    pub(super) fn remove(self) {
        for (path, folder) in self.0.into_iter().rev() {
            if flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok() {
                // One that is not empty was used by a person meanwhile.
                match is_common_dir(&path) {
                    true if is_mount_point(&path) => fs::remove_file(&path).unwrap_or_default(),
                    true => {}
                    false => fs::remove_dir(&path).unwrap_or_default(),
                }
            }
        }
    }
}

/// Returns whether a path is the file that names the folder with the configuration of a repository.
fn is_common_dir(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "commondir")
}

fn create_mount_point(path: &Path) -> io::Result<()> {
    if is_common_dir(path) {
        return create_common_dir(path);
    }
    fs::DirBuilder::new().mode(MOUNT_POINT_MODE).create(path)?;
    // The mask of this process may have taken bits away.
    fs::set_permissions(path, fs::Permissions::from_mode(MOUNT_POINT_MODE))
}

/// Makes the file at once with its text: git refuses an empty one.
fn create_common_dir(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let new = path.with_extension(format!("new-{}", std::process::id()));
    let made = fs::write(&new, OWN_FOLDER)
        .and_then(|()| fs::set_permissions(&new, fs::Permissions::from_mode(COMMON_DIR_MODE)))
        .and_then(|()| fs::hard_link(&new, path));
    fs::remove_file(&new).unwrap_or_default();
    made
}

/// Returns whether this is an empty folder, or a file, that a call has made.
fn is_mount_point(path: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else { return false };
    let mode = found.mode() & 0o7777;
    if is_common_dir(path) {
        return found.is_file()
            && mode == COMMON_DIR_MODE
            && fs::read(path).is_ok_and(|text| text == OWN_FOLDER);
    }
    found.is_dir()
        && mode == MOUNT_POINT_MODE
        && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}
