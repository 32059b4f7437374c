//! Reads configuration files safely: settings, instructions, commands, agents. Such a file is a
//! regular file of bounded size that belongs to the user or to root; one in a project is opened
//! beneath its folder without following a link, so that a repository cannot point at a file
//! somewhere else.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use windlass_runtime::locked_files::is_locked_file;

use super::paths::resolved_path::open_beneath;

/// Why a configuration file is not read. The text continues a sentence that begins with the file's
/// name.
#[derive(Debug, thiserror::Error)]
pub enum ConfigFileError {
    /// The file, or a folder on the way to it, is a symbolic link.
    #[error("is a symbolic link or is reached through one; replace it by a regular file")]
    SymbolicLink,
    /// The path is a folder, a pipe, a device or a socket.
    #[error("is not a regular file; replace it by one")]
    NotRegular,
    /// The file belongs to another user.
    #[error("belongs to another user (uid {uid}); change its owner with chown, or remove it")]
    OtherOwner {
        /// The user it belongs to.
        uid: u32,
    },
    /// The file is larger than the limit.
    #[error("is larger than {} KiB; make it shorter", limit >> 10)]
    TooLarge {
        /// The maximum size in bytes.
        limit: u64,
    },
    /// The file is not UTF-8.
    #[error("is not UTF-8 text; convert it")]
    NotUtf8,
    /// The operating system reported an error.
    #[error("cannot be read ({0})")]
    Unreadable(#[from] io::Error),
}

/// The beginning of a file, and whether the file has more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePrefix {
    /// The bytes that were read.
    pub bytes: Vec<u8>,
    /// Whether the file has more bytes.
    pub is_truncated: bool,
}

impl FilePrefix {
    /// Returns the text of a file that must be complete and UTF-8.
    pub fn into_text(self, limit: u64) -> Result<String, ConfigFileError> {
        if self.is_truncated {
            return Err(ConfigFileError::TooLarge { limit });
        }
        String::from_utf8(self.bytes).map_err(|_| ConfigFileError::NotUtf8)
    }
}

/// Reads at most `limit` bytes of the file `name` beneath `folder`, without following a link below
/// it. Returns `None` if there is no such file.
pub fn read_beneath(
    folder: &Path,
    name: &Path,
    limit: u64,
) -> Result<Option<FilePrefix>, ConfigFileError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = match rustix::fs::open(folder, flags, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        root => root.map_err(io::Error::from)?,
    };
    let open = |flags: OFlags| {
        let opened = open_beneath(&root, name, flags | OFlags::CLOEXEC | OFlags::NOFOLLOW);
        opened.map(File::from)
    };
    // Opening a pipe or a device has side effects, so its kind is checked first.
    let looked = match open(OFlags::PATH) {
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(Errno::LOOP | Errno::XDEV) => return Err(ConfigFileError::SymbolicLink),
        looked => looked.map_err(io::Error::from)?,
    };
    let found = looked.metadata()?;
    if found.is_dir() && is_empty_folder(&folder.join(name)) {
        return Ok(None);
    }
    check_kind_and_owner(&found)?;
    let file = match open(OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY) {
        Err(Errno::LOOP | Errno::XDEV) => return Err(ConfigFileError::SymbolicLink),
        file => file.map_err(io::Error::from)?,
    };
    check_kind_and_owner(&file.metadata()?)?;
    read_prefix(&file, limit).map(Some)
}

/// Reads a file of the user like [`read_beneath`], but follows links, which are the user's own:
/// many people keep such files in a repository.
pub fn read_following_links(
    path: &Path,
    limit: u64,
) -> Result<Option<FilePrefix>, ConfigFileError> {
    match std::fs::metadata(path) {
        Err(error) if is_missing(&error) => return Ok(None),
        Ok(found) if found.is_dir() && is_empty_folder(path) => return Ok(None),
        found => check_kind_and_owner(&found?)?,
    }
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    check_kind_and_owner(&file.metadata()?)?;
    read_prefix(&file, limit).map(Some)
}

/// Returns whether nothing has this name, not even a dangling link.
pub(crate) fn is_absent(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_err_and(|error| is_missing(&error))
}

/// Returns whether this is an empty folder: the sandbox holds the place of a file with one while a
/// command runs.
fn is_empty_folder(path: &Path) -> bool {
    std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn check_kind_and_owner(found: &Metadata) -> Result<(), ConfigFileError> {
    if found.file_type().is_symlink() {
        return Err(ConfigFileError::SymbolicLink);
    }
    // Opening the files of a store of this process would take its locks away.
    if !found.is_file() || is_locked_file(found) {
        return Err(ConfigFileError::NotRegular);
    }
    match found.uid() {
        uid if uid == 0 || uid == rustix::process::geteuid().as_raw() => Ok(()),
        uid => Err(ConfigFileError::OtherOwner { uid }),
    }
}

fn read_prefix(file: &File, limit: u64) -> Result<FilePrefix, ConfigFileError> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    let is_truncated = bytes.len() as u64 > limit;
    bytes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(FilePrefix { bytes, is_truncated })
}
