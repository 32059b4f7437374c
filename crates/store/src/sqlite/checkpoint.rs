//! Moving the write-ahead log into the database. The writer does it between two batches, and of
//! several processes only one at a time.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use rusqlite::Connection;
use windlass_runtime::ports::StoreError;

use super::error::is_failing_disk;
use super::home::Home;

/// Pages in the log after which it is moved: 8 MiB, which is reused and not given back.
const DUE_AFTER: i32 = 2_000;

#[derive(Debug)]
pub(super) struct Checkpoints {
    /// Pages in the log as of the last commit.
    pages: Arc<AtomicI32>,
    /// Pages in it when it was last moved: a reader may have kept it from starting over.
    moved: Cell<i32>,
}

impl Checkpoints {
    pub(super) fn watch(connection: &mut Connection) -> rusqlite::Result<Self> {
        let pages = Arc::new(AtomicI32::new(0));
        let seen = Arc::clone(&pages);
        connection.wal_hook(Some(move |_: &mut _, count| {
            seen.store(count, Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Self { pages, moved: Cell::new(0) })
    }

    pub(super) fn are_due(&self) -> bool {
        let pages = self.pages.load(Ordering::Relaxed);
        if pages < self.moved.get() {
            self.moved.set(0);
        }
        pages.saturating_sub(self.moved.get()) >= DUE_AFTER
    }

    pub(super) fn if_due(&self, home: &Home, connection: &Connection) {
        if self.are_due() {
            self.moved.set(self.pages.load(Ordering::Relaxed));
            run(home, connection, "PRAGMA wal_checkpoint(PASSIVE)");
        }
    }
}

/// Leaves an empty log behind, if nobody else uses the file.
pub(super) fn at_close(home: &Home, connection: &Connection) {
    run(home, connection, "PRAGMA wal_checkpoint(TRUNCATE)");
}

/// What could not be moved now stays in the log and is moved later; only a failing disk matters.
fn run(home: &Home, connection: &Connection, pragma: &str) {
    if home.sound().is_err() || home.log().try_lock().is_err() {
        return;
    }
    let outcome = connection.query_row(pragma, [], |_| Ok(()));
    _ = home.log().unlock();
    if let Err(error) = outcome
        && is_failing_disk(&error)
    {
        let _: StoreError = home.break_down(&format!("checkpoint failed: {error}"));
    }
}
