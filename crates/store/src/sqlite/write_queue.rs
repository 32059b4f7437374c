//! The queue of processes that want to write. They wait on a lock file (`flock`), where the kernel
//! serves them in the order in which they came and wakes one at a time.
//!
//! Without it they would compete for SQLite's own lock, which goes to whoever asks at the right
//! moment: of many processes some would wait for ever, and all of them would spend the time of the
//! processor on asking. The queue is about the order alone: SQLite's lock protects the file, also from
//! programs that do not wait here.

use std::fs::{File, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

#[cfg(test)]
#[path = "write_queue_tests.rs"]
mod write_queue_tests;

/// The suffix of the lock file.
const SUFFIX: &str = "-lock";

/// The place of this process in the queue.
#[derive(Debug)]
pub(super) struct WriteQueue {
    path: PathBuf,
    /// The lock file; `None` where it cannot be created: then there is no order.
    file: Option<Arc<File>>,
    /// A thread that waits, and sends the lock.
    waiting: Option<Receiver<File>>,
}

/// The turn of this process. It ends when it is dropped.
#[derive(Debug)]
pub(super) enum WriteTurn {
    /// The lock was free.
    Taken(Arc<File>),
    /// The lock was waited for; closing the file releases it.
    Awaited { _file: File },
    /// There is no queue.
    Unordered,
}

impl Drop for WriteTurn {
    fn drop(&mut self) {
        if let Self::Taken(file) = self {
            _ = file.unlock();
        }
    }
}

impl WriteQueue {
    /// Opens the queue of a database.
    pub(super) fn open(database: &Path) -> Self {
        let mut path = database.as_os_str().to_owned();
        path.push(SUFFIX);
        let path = PathBuf::from(path);
        let file = open_private(&path).map(Arc::new);
        Self { path, file, waiting: None }
    }

    /// Takes the turn, if no other process has it.
    pub(super) fn try_now(&self) -> Option<WriteTurn> {
        let Some(file) = &self.file else { return Some(WriteTurn::Unordered) };
        file.try_lock().ok().map(|()| WriteTurn::Taken(Arc::clone(file)))
    }

    /// Waits for the turn; `None` if it did not come in time. The place in the queue is kept for the
    /// next wait.
    pub(super) fn wait(&mut self, limit: Duration) -> Option<WriteTurn> {
        if self.waiting.is_none()
            && let Some(turn) = self.try_now()
        {
            return Some(turn);
        }
        let waiting = match self.waiting.take() {
            Some(waiting) => waiting,
            None => match self.start_waiting() {
                Some(waiting) => waiting,
                None => return Some(WriteTurn::Unordered),
            },
        };
        match waiting.recv_timeout(limit) {
            Ok(file) => Some(WriteTurn::Awaited { _file: file }),
            // The lock cannot be had here, whatever the reason.
            Err(RecvTimeoutError::Disconnected) => Some(WriteTurn::Unordered),
            Err(RecvTimeoutError::Timeout) => {
                self.waiting = Some(waiting);
                None
            }
        }
    }

    /// Waits on a thread, because the wait for the lock itself has no limit.
    fn start_waiting(&self) -> Option<Receiver<File>> {
        let file = open_private(&self.path)?;
        let (sender, receiver) = sync_channel(1);
        let wait = move || {
            if file.lock().is_ok() {
                // If no one waits any more, the file is closed, which releases the lock.
                _ = sender.send(file);
            }
        };
        thread::Builder::new().name("windlass-queue".to_owned()).spawn(wait).ok()?;
        Some(receiver)
    }
}

/// Opens the lock file, which only this user can open.
fn open_private(path: &Path) -> Option<File> {
    let mut options = File::options();
    let file = options.read(true).append(true).create(true).mode(0o600).open(path).ok()?;
    let found = file.metadata().ok()?;
    if !found.is_file() {
        return None;
    }
    if found.permissions().mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(0o600)).ok()?;
    }
    Some(file)
}
