//! The write-ahead log (WAL): synced by a thread of its own, moved into the database by the writer.
//!
//! A commit is already in the write-ahead log; syncing that file makes the commit and everything
//! before it survive a power cut, while the writer continues.

use std::cell::Cell;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::{io, thread};

use rusqlite::Connection;
use windlass_runtime::ports::StoreError;

use super::database_file::DatabaseFile;
use super::error::is_failing_disk;
use super::group_commit::{WriteOutput, send_reply};
use super::writer::WriteJob;

/// Maximum number of batches that wait for a sync; then the writer waits too.
const MAX_QUEUED_SYNCS: usize = 64;

/// Committed work, with the replies to send when it is on the disk.
type CommittedWork = Vec<(WriteJob, WriteOutput)>;

#[derive(Debug)]
pub(super) struct WalSyncer {
    queue: SyncSender<CommittedWork>,
    thread: JoinHandle<()>,
}

impl WalSyncer {
    pub(super) fn start(file: Arc<DatabaseFile>) -> io::Result<Self> {
        let (queue, committed) = mpsc::sync_channel(MAX_QUEUED_SYNCS);
        let thread = thread::Builder::new()
            .name("windlass-sync".to_owned())
            .spawn(move || run_sync_loop(&file, &committed))?;
        Ok(Self { queue, thread })
    }

    /// Replies to these after the next sync. If the thread is gone, dropping them tells the
    /// callers.
    pub(super) fn send(&self, committed: CommittedWork) {
        _ = self.queue.send(committed);
    }

    pub(super) fn close(self) {
        drop(self.queue);
        _ = self.thread.join();
    }
}

fn run_sync_loop(file: &DatabaseFile, queue: &Receiver<CommittedWork>) {
    while let Ok(mut committed) = queue.recv() {
        // One sync serves all commits before it began.
        queue.try_iter().for_each(|more| committed.extend(more));
        let outcome = file.sync();
        for (job, answer) in committed {
            send_reply(job, outcome.clone().map(|()| answer));
        }
    }
}

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

    pub(super) fn run_if_due(&self, file: &DatabaseFile, connection: &Connection) {
        if self.is_due() {
            self.checkpointed_pages.set(self.pages.load(Ordering::Relaxed));
            run_checkpoint(file, connection, "PRAGMA wal_checkpoint(PASSIVE)");
        }
    }
}

/// Truncates the log at close, unless another process uses the file.
pub(super) fn checkpoint_at_close(file: &DatabaseFile, connection: &Connection) {
    run_checkpoint(file, connection, "PRAGMA wal_checkpoint(TRUNCATE)");
}

/// Runs a checkpoint. What could not be moved now stays in the log and is moved later; only a
/// failing disk is an error.
fn run_checkpoint(file: &DatabaseFile, connection: &Connection, pragma: &str) {
    if file.check_not_broken().is_err() || file.wal().try_lock().is_err() {
        return;
    }
    let outcome = connection.query_row(pragma, [], |_| Ok(()));
    _ = file.wal().unlock();
    if let Err(error) = outcome
        && is_failing_disk(&error)
    {
        let _: StoreError = file.mark_broken(&format!("checkpoint failed: {error}"));
    }
}
