//! WAL checkpoints: the writer moves the write-ahead log into the database between two batches, and
//! of several processes only one at a time.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use rusqlite::Connection;
use windlass_runtime::ports::StoreError;

use super::database_file::DatabaseFile;
use super::error::is_failing_disk;

/// Pages in the log after which it is checkpointed: 8 MiB, which is reused and not freed.
const CHECKPOINT_AFTER_PAGES: i32 = 2_000;

#[derive(Debug)]
pub(super) struct WalCheckpoints {
    /// Pages in the log as of the last commit.
    pages: Arc<AtomicI32>,
    /// Pages in the log at the last checkpoint: a reader may have kept the log from restarting.
    checkpointed_pages: Cell<i32>,
}

impl WalCheckpoints {
    pub(super) fn watch(connection: &mut Connection) -> rusqlite::Result<Self> {
        let pages = Arc::new(AtomicI32::new(0));
        let seen = Arc::clone(&pages);
        connection.wal_hook(Some(move |_: &mut _, count| {
            seen.store(count, Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Self { pages, checkpointed_pages: Cell::new(0) })
    }

    pub(super) fn is_due(&self) -> bool {
        let pages = self.pages.load(Ordering::Relaxed);
        if pages < self.checkpointed_pages.get() {
            self.checkpointed_pages.set(0);
        }
        pages.saturating_sub(self.checkpointed_pages.get()) >= CHECKPOINT_AFTER_PAGES
    }

    pub(super) fn run_if_due(&self, home: &DatabaseFile, connection: &Connection) {
        if self.is_due() {
            self.checkpointed_pages.set(self.pages.load(Ordering::Relaxed));
            run_checkpoint(home, connection, "PRAGMA wal_checkpoint(PASSIVE)");
        }
    }
}

/// Truncates the log at close, unless another process uses the file.
pub(super) fn checkpoint_at_close(home: &DatabaseFile, connection: &Connection) {
    run_checkpoint(home, connection, "PRAGMA wal_checkpoint(TRUNCATE)");
}

/// Runs a checkpoint. What could not be moved now stays in the log and is moved later; only a
/// failing disk is an error.
fn run_checkpoint(home: &DatabaseFile, connection: &Connection, pragma: &str) {
    if home.check_not_broken().is_err() || home.wal().try_lock().is_err() {
        return;
    }
    let outcome = connection.query_row(pragma, [], |_| Ok(()));
    _ = home.wal().unlock();
    if let Err(error) = outcome
        && is_failing_disk(&error)
    {
        let _: StoreError = home.mark_broken(&format!("checkpoint failed: {error}"));
    }
}
