//! What the tools keep for each conversation: which files were read and as what, the folder of its
//! shell, what its commands printed, its list of tasks.
//!
//! It lies in files, because a conversation outlives the process that drives it: who resumes it on
//! this machine finds its desk as it was left. A desk that is lost costs a second look at some
//! files and nothing else.
//!
//! Not here: anything the log holds. Desks are about this machine's files; another machine has
//! others.

#[cfg(test)]
mod room_tests;
mod seen;
#[cfg(test)]
mod seen_tests;

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::TempDir;
use windlass_core::ids::LaneId;
use windlass_core::raw::sha256_hex;

use self::seen::Seen;
use crate::limits::MAX_NOTE_BYTES;

/// The folder for what commands print.
const OUTPUTS: &str = "outputs";

/// The table of files that were read.
const SEEN: &str = "seen.table";

/// Where the desks stand.
#[derive(Debug)]
pub(crate) enum Desks {
    /// In a folder that stays.
    Kept(PathBuf),
    /// In a folder that goes with this process.
    Passing(OnceLock<Option<TempDir>>),
}

impl Desks {
    /// Desks for as long as this process lives.
    pub(crate) fn passing() -> Self {
        Self::Passing(OnceLock::new())
    }

    /// The desk of the conversation on `lane`.
    pub(crate) fn of(&self, lane: &LaneId) -> Desk {
        let name = sha256_hex(lane.as_str().as_bytes());
        Desk { folder: self.home().map(|home| home.join(name.get(..32).unwrap_or(&name))) }
    }

    fn home(&self) -> Option<&Path> {
        match self {
            Self::Kept(folder) => Some(folder),
            Self::Passing(folder) => {
                folder.get_or_init(|| TempDir::new().ok()).as_ref().map(TempDir::path)
            }
        }
    }
}

/// Removes what the tools keep for a conversation below `folder`, where [`crate::Workplace`] was told
/// to keep it. Nothing there is no error.
pub fn remove_tool_state(folder: &Path, lane: &LaneId) -> io::Result<()> {
    let Some(state) = Desks::Kept(folder.to_path_buf()).of(lane).folder else { return Ok(()) };
    match fs::remove_dir_all(state) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The desk of one conversation.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    /// Nothing where not even a temporary folder could be made.
    folder: Option<PathBuf>,
}

impl Desk {
    /// Writes a note. Whole or not at all, but not before the disk has it: a note that a power cut
    /// takes is only missed.
    pub(crate) fn put<T: Serialize>(&self, name: &str, note: &T) -> io::Result<()> {
        let target = self.path(name)?;
        let folder = target.parent().unwrap_or(Path::new("/"));
        private_folder(folder)?;
        let temporary = folder.join(format!(".{}", uuid::Uuid::now_v7()));
        let mut file =
            fs::File::options().write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.write_all(&serde_json::to_vec(note)?)?;
        fs::rename(&temporary, &target)
    }

    /// Reads a note. One that is torn counts as missing.
    pub(crate) fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let path = self.path(name).ok()?;
        let size = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?.len();
        let bytes = (size <= MAX_NOTE_BYTES).then(|| fs::read(path).ok())??;
        serde_json::from_slice(&bytes).ok()
    }

    /// Notes that `path` was seen with contents of this hash.
    pub(crate) fn note_seen(&self, path: &Path, hash: &str) -> io::Result<()> {
        self.all_seen()?.note(path, hash)
    }

    /// The hash of the contents as which `path` was last seen.
    pub(crate) fn seen(&self, path: &Path) -> Option<String> {
        self.all_seen().ok()?.contents(path)
    }

    fn all_seen(&self) -> io::Result<Seen> {
        Ok(Seen { table: self.path(SEEN)? })
    }

    /// Removes all of it.
    pub(crate) fn clear(&self) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// The folder for what commands print; it is made if it is not there.
    pub(crate) fn outputs(&self) -> io::Result<PathBuf> {
        let folder = self.path(OUTPUTS)?;
        private_folder(&folder)?;
        Ok(folder)
    }

    /// The same, where it really is.
    pub(crate) fn outputs_path(&self) -> Option<PathBuf> {
        let path = self.path(OUTPUTS).ok()?;
        path.canonicalize().ok()
    }

    /// Whether a path may lie there: asked before every look at a file, so nothing is looked up.
    pub(crate) fn may_be_output(path: &Path) -> bool {
        path.ancestors().take(2).any(|part| part.file_name().is_some_and(|name| name == OUTPUTS))
    }

    /// Where a note lies or would lie.
    pub(crate) fn path(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.folder.as_ref();
        folder.map(|folder| folder.join(name)).ok_or_else(|| io::ErrorKind::StorageFull.into())
    }
}

/// Removes the oldest files of a folder, so that there is room for one more: one file, and as many bytes
/// as it may grow to.
pub(crate) fn make_room(folder: &Path, most: usize, most_bytes: u64) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let looked_at = |entry: fs::DirEntry| {
        let found = entry.metadata().ok();
        let modified = found.as_ref().and_then(|found| found.modified().ok());
        let bytes = found.map_or(0, |found| found.len());
        (modified.unwrap_or(SystemTime::UNIX_EPOCH), entry.path(), bytes)
    };
    let mut files: Vec<_> = entries.map(looked_at).collect();
    files.sort();
    let mut left = files.len();
    let mut bytes: u64 = files.iter().map(|(_, _, bytes)| *bytes).sum();
    for (_, path, size) in &files {
        if left < most && bytes <= most_bytes {
            return;
        }
        // One that cannot be removed is there next time.
        fs::remove_file(path).unwrap_or_default();
        left -= 1;
        bytes = bytes.saturating_sub(*size);
    }
}

/// A folder that only this user looks into.
fn private_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
