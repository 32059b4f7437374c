//! Where the database is, whether it is still there, and whether it can still be trusted.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use windlass_runtime::ports::StoreError;

use crate::fault;

/// Device and inode: what a path is, whatever it is called.
type Identity = (u64, u64);

#[derive(Debug)]
pub(super) struct Home {
    path: PathBuf,
    identity: Identity,
    /// The write-ahead log, opened for syncing. SQLite's locks are on the other two files, so this
    /// descriptor cannot release them.
    log: File,
    log_identity: Identity,
    patience: Duration,
    broken: OnceLock<String>,
    syncs: AtomicU64,
    commits: AtomicU64,
}

impl Home {
    /// Takes note of a database that is open and has its log.
    pub(super) fn new(path: PathBuf, patience: Duration) -> Result<Self, StoreError> {
        let found = || -> io::Result<(Identity, File, Identity)> {
            let log = File::options().read(true).write(true).open(log_of(&path))?;
            let log_identity = identity(&log.metadata()?);
            Ok((identity(&fs::metadata(&path)?), log, log_identity))
        };
        let (identity, log, log_identity) = found().map_err(|error| StoreError::Broken {
            place: path.display().to_string(),
            reason: error.to_string(),
        })?;
        Ok(Self {
            path,
            identity,
            log,
            log_identity,
            patience,
            broken: OnceLock::new(),
            syncs: AtomicU64::new(0),
            commits: AtomicU64::new(0),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn place(&self) -> String {
        self.path.display().to_string()
    }

    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    pub(super) fn log(&self) -> &File {
        &self.log
    }

    /// Puts on the disk all that is committed. What cannot be synced once cannot be trusted again:
    /// the kernel may have dropped the pages, so a second try would succeed and mean nothing.
    pub(super) fn sync(&self) -> Result<(), StoreError> {
        self.sound()?;
        self.still_there()?;
        self.syncs.fetch_add(1, Ordering::Relaxed);
        let synced = match fault::sync_is_broken() {
            false => self.log.sync_data(),
            true => Err(io::Error::other("input/output error")),
        };
        synced.map_err(|error| self.break_down(&format!("sync failed: {error}")))
    }

    /// A file that was deleted or replaced takes writes that nobody will ever read.
    pub(super) fn still_there(&self) -> Result<(), StoreError> {
        let same = |path: &Path, known: Identity| {
            fs::metadata(path).is_ok_and(|found| identity(&found) == known)
        };
        match same(&self.path, self.identity) && same(&log_of(&self.path), self.log_identity) {
            true => Ok(()),
            false => Err(self.break_down("the file was deleted or replaced while in use")),
        }
    }

    /// Refuses everything from here on.
    pub(super) fn break_down(&self, reason: &str) -> StoreError {
        let reason = self.broken.get_or_init(|| reason.to_owned()).clone();
        StoreError::Broken { place: self.place(), reason }
    }

    pub(super) fn sound(&self) -> Result<(), StoreError> {
        match self.broken.get() {
            None => Ok(()),
            Some(reason) => Err(StoreError::Broken { place: self.place(), reason: reason.clone() }),
        }
    }

    pub(super) fn count_commit(&self) {
        self.commits.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }
}

fn identity(found: &fs::Metadata) -> Identity {
    (found.dev(), found.ino())
}

fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}
