//! Reading the files that configure a conversation: settings, instructions, commands, agents. Such a
//! file is a regular file of bounded size that belongs to the user or to root; one in a project is
//! opened beneath its folder without following a link, so that a repository cannot point at a file
//! somewhere else.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::place::beneath;

/// Why a file is not read. The sentence goes on after the name of the file.
#[derive(Debug, thiserror::Error)]
pub enum FileRefusal {
    /// It, or a folder on the way to it, is a link.
    #[error("is a symbolic link, or lies behind one; put a regular file there")]
    Link,
    /// It is a folder, a pipe, a device or a socket.
    #[error("is not a regular file; put a regular file there")]
    NotRegular,
    /// It belongs to another user.
    #[error(
        "belongs to another user (uid {uid}); only files of the user or of root count: take it over \
         with chown, or remove it"
    )]
    Foreign {
        /// The user it belongs to.
        uid: u32,
    },
    /// It has more bytes than such a file may have.
    #[error("is larger than {} KiB; make it shorter", limit >> 10)]
    TooLarge {
        /// Bytes it may have.
        limit: u64,
    },
    /// It is not UTF-8.
    #[error("is not UTF-8 text; convert it")]
    NotText,
    /// The system says no.
    #[error("cannot be read ({0})")]
    Unreadable(#[from] io::Error),
}

/// The beginning of a file, and whether that is all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileBeginning {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether there is more.
    pub is_cut: bool,
}

impl FileBeginning {
    /// The text of a file that must be whole.
    pub fn into_whole_text(self, limit: u64) -> Result<String, FileRefusal> {
        if self.is_cut {
            return Err(FileRefusal::TooLarge { limit });
        }
        String::from_utf8(self.bytes).map_err(|_| FileRefusal::NotText)
    }
}

/// Reads at most `limit` bytes of the file `name` beneath `folder`, following no link below it.
/// `None` if there is no such file.
pub fn read_beneath(
    folder: &Path,
    name: &Path,
    limit: u64,
) -> Result<Option<FileBeginning>, FileRefusal> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = match rustix::fs::open(folder, flags, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        root => root.map_err(io::Error::from)?,
    };
    let open = |flags: OFlags| {
        let opened = beneath(&root, name, flags | OFlags::CLOEXEC | OFlags::NOFOLLOW);
        opened.map(File::from)
    };
    // Opening a pipe or a device is felt on its other side, so it is looked at before.
    let looked = match open(OFlags::PATH) {
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(Errno::LOOP | Errno::XDEV) => return Err(FileRefusal::Link),
        looked => looked.map_err(io::Error::from)?,
    };
    check(&looked.metadata()?)?;
    let file = match open(OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY) {
        Err(Errno::LOOP | Errno::XDEV) => return Err(FileRefusal::Link),
        file => file.map_err(io::Error::from)?,
    };
    check(&file.metadata()?)?;
    begin(&file, limit).map(Some)
}

/// The same for a file that the user keeps: links are the user's own and are followed, as many
/// people keep such files in a repository of their own.
pub fn read_linked(path: &Path, limit: u64) -> Result<Option<FileBeginning>, FileRefusal> {
    match std::fs::metadata(path) {
        Err(error) if is_missing(&error) => return Ok(None),
        found => check(&found?)?,
    }
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    check(&file.metadata()?)?;
    begin(&file, limit).map(Some)
}

/// Whether nothing has this name, not even a link that leads nowhere.
pub(crate) fn is_absent(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_err_and(|error| is_missing(&error))
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn check(found: &Metadata) -> Result<(), FileRefusal> {
    if found.file_type().is_symlink() {
        return Err(FileRefusal::Link);
    }
    if !found.is_file() {
        return Err(FileRefusal::NotRegular);
    }
    match found.uid() {
        uid if uid == 0 || uid == rustix::process::geteuid().as_raw() => Ok(()),
        uid => Err(FileRefusal::Foreign { uid }),
    }
}

fn begin(file: &File, limit: u64) -> Result<FileBeginning, FileRefusal> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() as u64 > limit;
    bytes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(FileBeginning { bytes, is_cut })
}
