//! The database file: its path, its identity, whether it can still be trusted, and its integrity
//! checks.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fs, io};

use rusqlite::Connection;
use windlass_runtime::locked_files::LockedFile;
use windlass_runtime::ports::StoreError;

use super::error::explain_sqlite_error;
use super::open::retry_while_busy;
use crate::crash_points;

/// Device and inode, which identify a file whatever its path.
type FileIdentity = (u64, u64);

#[derive(Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    identity: FileIdentity,
    /// The write-ahead log, opened for syncing. SQLite's locks are on the other two files, so this
    /// descriptor cannot release them.
    wal: File,
    wal_identity: FileIdentity,
    /// The files with SQLite's locks, which nothing else in this process may open.
    _locked: Vec<LockedFile>,
    busy_timeout: Duration,
    broken: OnceLock<String>,
    syncs: AtomicU64,
    commits: AtomicU64,
}

impl DatabaseFile {
    /// Describes a database that is open and has its write-ahead log.
    pub(super) fn new(path: PathBuf, busy_timeout: Duration) -> Result<Self, StoreError> {
        let found = || -> io::Result<(fs::Metadata, File, FileIdentity)> {
            let log = File::options().read(true).write(true).open(wal_path(&path))?;
            let log_identity = file_identity(&log.metadata()?);
            Ok((fs::metadata(&path)?, log, log_identity))
        };
        let (database, wal, wal_identity) = found().map_err(|error| StoreError::Broken {
            location: path.display().to_string(),
            reason: error.to_string(),
        })?;
        // The write-ahead log's index has the locks of readers.
        let index = fs::metadata(with_suffix(&path, "-shm")).ok();
        let locked = [Some(database.clone()), index];
        let locked = locked.iter().flatten().map(LockedFile::register).collect();
        Ok(Self {
            identity: file_identity(&database),
            _locked: locked,
            path,
            wal,
            wal_identity,
            busy_timeout,
            broken: OnceLock::new(),
            syncs: AtomicU64::new(0),
            commits: AtomicU64::new(0),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn location(&self) -> String {
        self.path.display().to_string()
    }

    pub(super) fn busy_timeout(&self) -> Duration {
        self.busy_timeout
    }

    pub(super) fn wal(&self) -> &File {
        &self.wal
    }

    /// Syncs all commits to the disk. A file whose sync failed once is not trusted again: the
    /// kernel may have dropped the pages, so a second sync would succeed and mean nothing.
    pub(super) fn sync(&self) -> Result<(), StoreError> {
        self.check_not_broken()?;
        self.check_not_replaced()?;
        self.syncs.fetch_add(1, Ordering::Relaxed);
        let synced = match crash_points::is_sync_failing() {
            false => self.wal.sync_data(),
            true => Err(io::Error::other("input/output error")),
        };
        synced.map_err(|error| self.mark_broken(&format!("sync failed: {error}")))
    }

    /// Fails if the file was deleted or replaced: writes to it would be lost.
    fn check_not_replaced(&self) -> Result<(), StoreError> {
        let same = |path: &Path, known: FileIdentity| {
            fs::metadata(path).is_ok_and(|found| file_identity(&found) == known)
        };
        match same(&self.path, self.identity) && same(&wal_path(&self.path), self.wal_identity) {
            true => Ok(()),
            false => Err(self.mark_broken("the file was deleted or replaced while in use")),
        }
    }

    /// Marks the file as broken; every later operation is rejected.
    pub(super) fn mark_broken(&self, reason: &str) -> StoreError {
        let reason = self.broken.get_or_init(|| reason.to_owned()).clone();
        StoreError::Broken { location: self.location(), reason }
    }

    pub(super) fn check_not_broken(&self) -> Result<(), StoreError> {
        match self.broken.get() {
            None => Ok(()),
            Some(reason) => {
                Err(StoreError::Broken { location: self.location(), reason: reason.clone() })
            }
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

fn file_identity(found: &fs::Metadata) -> FileIdentity {
    (found.dev(), found.ino())
}

fn wal_path(path: &Path) -> PathBuf {
    with_suffix(path, "-wal")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Files up to this size are checked whenever they are opened; it takes a few milliseconds.
const SMALL_FILE_BYTES: u64 = 4 * 1024 * 1024;

pub(super) fn check_if_small(
    connection: &Connection,
    path: &Path,
    busy_timeout: Duration,
) -> Result<(), StoreError> {
    let is_small = path.metadata().is_ok_and(|found| found.len() <= SMALL_FILE_BYTES);
    if is_small {
        run_quick_check(connection, &path.display().to_string(), busy_timeout)
    } else {
        Ok(())
    }
}

pub(super) fn check_whole_file(
    connection: &Connection,
    file: &DatabaseFile,
) -> Result<(), StoreError> {
    run_quick_check(connection, &file.location(), file.busy_timeout())
}

fn run_quick_check(
    connection: &Connection,
    location: &str,
    busy_timeout: Duration,
) -> Result<(), StoreError> {
    let check = || connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
    match retry_while_busy::<String>(busy_timeout, check) {
        Ok(verdict) if verdict == "ok" => Ok(()),
        Ok(reason) => Err(StoreError::Corrupt { location: location.to_owned(), reason }),
        Err(error) => Err(explain_sqlite_error(location, busy_timeout, &error)),
    }
}

#[expect(clippy::disallowed_methods, reason = "information for people, never compared")]
pub(super) fn wall_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
