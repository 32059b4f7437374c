//! Tool state per conversation: hashes of files that were read, the shell's working folder, output
//! files, the task list.
//!
//! It is stored in files, because a conversation outlives the process that drives it: a process
//! that resumes it on this machine finds the tool state unchanged. Losing it costs a second read of
//! some files and nothing else.
//!
//! Not here: anything in the log. Tool state is about this machine's files; another machine has
//! others.

mod read_file_table;
#[cfg(test)]
mod read_file_table_tests;
#[cfg(test)]
mod tool_state_tests;

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::TempDir;
use windlass_core::log::ids::LaneId;
use windlass_core::message::raw_json::sha256_hex;

use self::read_file_table::ReadFileTable;
use crate::limits::MAX_NOTE_BYTES;

/// The folder for output files of commands.
const OUTPUTS_FOLDER: &str = "outputs";

/// The table of files that were read.
const READ_FILES_TABLE: &str = "seen.table";

/// Where tool state is stored.
#[derive(Debug)]
pub(crate) enum ToolStateStorage {
    /// A persistent folder.
    Persistent(PathBuf),
    /// A temporary folder that is deleted with this process.
    Temporary(OnceLock<Option<TempDir>>),
}

impl ToolStateStorage {
    /// Returns storage that lasts as long as this process.
    pub(crate) fn temporary() -> Self {
        Self::Temporary(OnceLock::new())
    }

    /// Returns the tool state of the conversation on `lane`.
    pub(crate) fn for_lane(&self, lane: &LaneId) -> ToolState {
        let name = sha256_hex(lane.as_str().as_bytes());
        ToolState {
            folder: self.root_folder().map(|home| home.join(name.get(..32).unwrap_or(&name))),
        }
    }

    fn root_folder(&self) -> Option<&Path> {
        match self {
            Self::Persistent(folder) => Some(folder),
            Self::Temporary(folder) => {
                folder.get_or_init(|| TempDir::new().ok()).as_ref().map(TempDir::path)
            }
        }
    }
}

/// Removes the tool state of a conversation below `folder`, which is the state folder of a
/// [`crate::ToolContext`]. Missing state is not an error.
pub fn remove_tool_state(folder: &Path, lane: &LaneId) -> io::Result<()> {
    let Some(state) = ToolStateStorage::Persistent(folder.to_path_buf()).for_lane(lane).folder
    else {
        return Ok(());
    };
    match fs::remove_dir_all(state) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The tool state of one conversation.
#[derive(Debug, Clone)]
pub(crate) struct ToolState {
    /// The folder; `None` where not even a temporary folder could be created.
    folder: Option<PathBuf>,
}

impl ToolState {
    /// Writes a note atomically, without syncing it: a note that is lost in a power cut is only
    /// missing.
    pub(crate) fn write_note<T: Serialize>(&self, name: &str, note: &T) -> io::Result<()> {
        let target = self.note_path(name)?;
        let folder = target.parent().unwrap_or(Path::new("/"));
        create_private_folder(folder)?;
        let temporary = folder.join(format!(".{}", uuid::Uuid::now_v7()));
        let mut file =
            fs::File::options().write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.write_all(&serde_json::to_vec(note)?)?;
        fs::rename(&temporary, &target)
    }

    /// Reads a note; a damaged one counts as missing.
    pub(crate) fn read_note<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let path = self.note_path(name).ok()?;
        let size = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?.len();
        let bytes = (size <= MAX_NOTE_BYTES).then(|| fs::read(path).ok())??;
        serde_json::from_slice(&bytes).ok()
    }

    /// Records that `path` was read with contents of this hash.
    pub(crate) fn record_read(&self, path: &Path, hash: &str) -> io::Result<()> {
        self.read_file_table()?.record_hash(path, hash)
    }

    /// Returns the hash of the contents with which `path` was last read.
    pub(crate) fn last_read_hash(&self, path: &Path) -> Option<String> {
        self.read_file_table().ok()?.hash_for(path)
    }

    fn read_file_table(&self) -> io::Result<ReadFileTable> {
        Ok(ReadFileTable { table: self.note_path(READ_FILES_TABLE)? })
    }

    /// Removes the tool state of the conversation.
    pub(crate) fn clear(&self) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Returns the folder for output files, and creates it if it is missing.
    pub(crate) fn create_outputs_folder(&self) -> io::Result<PathBuf> {
        let folder = self.note_path(OUTPUTS_FOLDER)?;
        create_private_folder(&folder)?;
        Ok(folder)
    }

    /// Returns the real path of the folder for output files.
    pub(crate) fn real_outputs_folder(&self) -> Option<PathBuf> {
        let path = self.note_path(OUTPUTS_FOLDER).ok()?;
        path.canonicalize().ok()
    }

    /// Returns whether a path may be an output file: called before every file is read, so nothing
    /// is resolved.
    pub(crate) fn may_be_output(path: &Path) -> bool {
        path.ancestors()
            .take(2)
            .any(|part| part.file_name().is_some_and(|name| name == OUTPUTS_FOLDER))
    }

    /// Returns the path of a note, which need not exist.
    pub(crate) fn note_path(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.folder.as_ref();
        folder.map(|folder| folder.join(name)).ok_or_else(|| io::ErrorKind::StorageFull.into())
    }
}

/// Evicts the oldest files of a folder until one more fits: one file, and as many bytes as it may
/// grow to.
pub(crate) fn evict_oldest_files(folder: &Path, max_files: usize, max_bytes: u64) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let looked_at = |entry: fs::DirEntry| {
        let found = entry.metadata().ok();
        let modified = found.as_ref().and_then(|found| found.modified().ok());
        let bytes = found.map_or(0, |found| found.len());
        (modified.unwrap_or(SystemTime::UNIX_EPOCH), entry.path(), bytes)
    };
    let mut files: Vec<_> = entries.map(looked_at).collect();
    files.sort();
    let mut file_count = files.len();
    let mut bytes: u64 = files.iter().map(|(_, _, bytes)| *bytes).sum();
    for (_, path, size) in &files {
        if file_count < max_files && bytes <= max_bytes {
            return;
        }
        // A file that cannot be removed is tried again next time.
        fs::remove_file(path).unwrap_or_default();
        file_count -= 1;
        bytes = bytes.saturating_sub(*size);
    }
}

/// Creates a folder that only this user can access.
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
