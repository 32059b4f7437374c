//! The journal of changes, and the contents that files had before them.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass_core::log::ids::{CallId, LaneId, UnixMillis};

use crate::files::write_target::FileSnapshot;
use crate::limits::{MAX_EDIT_BYTES, MAX_HISTORY_BLOBS, MAX_HISTORY_BYTES, MAX_JOURNAL_BYTES};
use crate::tool_context::tool_state::{ToolState, create_private_folder, evict_oldest_files};

/// The folder in the tool state.
const FOLDER: &str = "file-history";

/// What changed a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChangeSource {
    /// A call of the conversation.
    Call { call: CallId },
    /// A call of one of its sub-agents.
    SubAgent { lane: LaneId, call: CallId },
    /// A rewind.
    Rewind {},
}

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileChange {
    pub(super) source: ChangeSource,
    /// Milliseconds since 1970.
    pub(super) at: u64,
    pub(super) path: PathBuf,
    /// The contents before; `None` if there was no file.
    pub(super) before: Option<FileVersion>,
    /// The hash of the contents after; `None` if the file was removed.
    pub(super) after: Option<String>,
}

/// A state of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileVersion {
    pub(super) hash: String,
    pub(super) mode: u32,
}

impl FileChange {
    pub(super) fn new(
        source: ChangeSource,
        at: UnixMillis,
        path: &Path,
        before: Option<&FileSnapshot>,
        after: Option<&str>,
    ) -> Self {
        let version = |found: &FileSnapshot| FileVersion {
            hash: found.hash.clone(),
            mode: found.metadata.mode() & 0o7777,
        };
        Self {
            source,
            at: at.0,
            path: path.to_path_buf(),
            before: before.map(version),
            after: after.map(str::to_owned),
        }
    }
}

/// The history of one conversation on disk.
pub(super) struct ChangeJournal {
    folder: PathBuf,
}

impl ChangeJournal {
    pub(super) fn of(state: &ToolState) -> io::Result<Self> {
        Ok(Self { folder: state.note_path(FOLDER)? })
    }

    /// Notes a change. The contents come first: a change that is noted can be taken back. Nothing
    /// is synced; a power cut may lose the note of a change.
    pub(super) fn note(&self, change: &FileChange, before: Option<&[u8]>) -> io::Result<()> {
        create_private_folder(&self.blobs())?;
        if let (Some(version), Some(bytes)) = (&change.before, before) {
            self.keep_blob(&version.hash, bytes)?;
        }
        let mut line = serde_json::to_string(change)?;
        line.push('\n');
        let mut journal =
            OpenOptions::new().append(true).create(true).mode(0o600).open(self.journal())?;
        if journal.metadata()?.len() > MAX_JOURNAL_BYTES {
            return Err(io::Error::other("the file history of the conversation is full"));
        }
        journal.write_all(line.as_bytes())
    }

    fn keep_blob(&self, hash: &str, bytes: &[u8]) -> io::Result<()> {
        let blob = self.blobs().join(hash);
        if blob.exists() {
            return Ok(());
        }
        evict_oldest_files(&self.blobs(), MAX_HISTORY_BLOBS, MAX_HISTORY_BYTES);
        let temporary = self.folder.join(format!(".{}", uuid::Uuid::now_v7()));
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.write_all(bytes)?;
        std::fs::rename(temporary, blob)
    }

    /// Reads the contents with this hash; `None` if they are not kept any more.
    pub(super) fn read_blob(&self, hash: &str) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        match File::open(self.blobs().join(hash)) {
            Ok(file) => file.take(MAX_EDIT_BYTES).read_to_end(&mut bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok((crate::files::content_hash::hash_bytes(&bytes) == hash).then_some(bytes))
    }

    /// Reads all changes, oldest first. A line that a crash tore is skipped.
    pub(super) fn read(&self) -> io::Result<Vec<FileChange>> {
        let journal = match File::open(self.journal()) {
            Ok(journal) => BufReader::new(journal),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut changes = Vec::new();
        for line in journal.split(b'\n') {
            changes.extend(serde_json::from_slice(&line?).ok());
        }
        Ok(changes)
    }

    fn blobs(&self) -> PathBuf {
        self.folder.join("contents")
    }

    fn journal(&self) -> PathBuf {
        self.folder.join("changes.jsonl")
    }
}
