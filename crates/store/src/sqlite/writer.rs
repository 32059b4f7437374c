//! The single writer of a process. It commits together whatever queued up while it was busy: there
//! is no timer, so a lone write never waits for others.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::{Semaphore, oneshot};
use windlass_core::log::record::Durability;
use windlass_runtime::ports::StoreError;

use super::commit_queue::{CommitQueue, WriteJob};
use super::database_file::DatabaseFile;
use super::group_commit::GroupCommitter;
use super::wal_checkpoint::WalCheckpoints;
use super::wal_sync::WalSyncer;
use super::write_work::{WriteOutput, WriteWork};
use crate::inbox_hints::InboxHints;

/// Maximum amount of queued work; further callers wait until there is capacity.
const MAX_QUEUED_WORK: usize = 1_024;

#[derive(Debug)]
pub(super) struct SqliteWriter {
    file: Arc<DatabaseFile>,
    queue: Arc<CommitQueue>,
    capacity: Arc<Semaphore>,
    thread: Option<JoinHandle<()>>,
}

impl SqliteWriter {
    pub(super) fn start(
        file: Arc<DatabaseFile>,
        mut connection: Connection,
        hints: Arc<InboxHints>,
    ) -> Result<Self, StoreError> {
        let failed =
            |error: String| StoreError::Broken { location: file.location(), reason: error };
        let watch = WalCheckpoints::watch(&mut connection);
        let checkpoints = watch.map_err(|error| failed(error.to_string()))?;
        let syncer =
            WalSyncer::start(Arc::clone(&file)).map_err(|error| failed(error.to_string()))?;
        let batches =
            GroupCommitter::new(Arc::clone(&file), connection, hints, syncer, checkpoints);
        let queue = Arc::new(CommitQueue::new(batches));
        let attended = Arc::clone(&queue);
        let thread = thread::Builder::new()
            .name("windlass-writer".to_owned())
            .spawn(move || attended.run_writer_loop())
            .map_err(|error| failed(error.to_string()))?;
        Ok(Self {
            file,
            queue,
            capacity: Arc::new(Semaphore::new(MAX_QUEUED_WORK)),
            thread: Some(thread),
        })
    }

    /// Enqueues work and waits until it is as durable as requested. Enqueued work is done even if
    /// the caller stops waiting.
    pub(super) async fn submit(
        &self,
        work: WriteWork,
        durability: Durability,
    ) -> Result<WriteOutput, StoreError> {
        let room = Arc::clone(&self.capacity)
            .acquire_owned()
            .await
            .map_err(|_| self.writer_stopped_error())?;
        let (reply, answer) = oneshot::channel();
        self.queue.enqueue(WriteJob { work, durability, reply, _capacity: room });
        answer.await.map_err(|_| self.writer_stopped_error())?
    }

    /// Ends the writer thread after the work it has accepted.
    pub(super) fn close(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }

    fn writer_stopped_error(&self) -> StoreError {
        let stopped = || "the writer has stopped".to_owned();
        let gone = |reason| StoreError::Broken { location: self.file.location(), reason };
        self.file.check_not_broken().err().unwrap_or_else(|| gone(stopped()))
    }
}
