//! The single writer of a process and its commit queue. It commits together whatever queued up
//! while it was busy: there is no timer, so a lone write never waits for others.
//!
//! A task of the caller's runtime flushes the queue inline, as soon as the ready tasks have enqueued
//! their work: handing it to another thread and back would cost more than the commit. A
//! conversation that writes alone is not made to wait for others, and its own task commits. Without
//! a runtime, and whenever another process holds the file, the writer thread does it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::runtime::{Handle, Id};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use windlass_core::log::ids::LaneId;
use windlass_core::log::record::Durability;
use windlass_runtime::ports::StoreError;

use super::database_file::DatabaseFile;
use super::group_commit::{GroupCommitter, WriteOutput, WriteWork};
use super::wal::{WalCheckpoints, WalSyncer};
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
        let remaining = Arc::clone(&self.capacity)
            .acquire_owned()
            .await
            .map_err(|_| self.writer_stopped_error())?;
        let (reply, answer) = oneshot::channel();
        self.queue.enqueue(WriteJob { work, durability, reply, _capacity: remaining });
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

/// Maximum number of jobs in one transaction.
const MAX_BATCH: usize = 256;

/// A piece of work and its reply channel.
#[derive(Debug)]
pub(super) struct WriteJob {
    pub(super) work: WriteWork,
    pub(super) durability: Durability,
    pub(super) reply: oneshot::Sender<Result<WriteOutput, StoreError>>,
    /// The permit for its place in the bounded queue.
    pub(super) _capacity: OwnedSemaphorePermit,
}

#[derive(Debug)]
struct CommitQueue {
    state: Mutex<CommitQueueState>,
    wake_writer: Condvar,
    /// The group committer; `None` once the store is closed.
    committer: Mutex<Option<GroupCommitter>>,
}

#[derive(Debug, Default)]
struct CommitQueueState {
    jobs: VecDeque<WriteJob>,
    /// The runtime on which an inline flush is scheduled.
    inline_flush: Option<Id>,
    /// The lane of the append that was enqueued last.
    last_lane: Option<LaneId>,
    /// Whether the write-ahead log is so long that the writer thread should checkpoint it.
    is_checkpoint_due: bool,
    is_closed: bool,
}

impl CommitQueueState {
    /// Returns whether the queue is empty and the previous append was of the same lane.
    fn note_lane(&mut self, lane: Option<&LaneId>) -> bool {
        let is_same = lane.is_some() && self.last_lane.as_ref() == lane;
        if !is_same {
            self.last_lane = lane.cloned();
        }
        is_same && self.jobs.is_empty()
    }
}

impl CommitQueue {
    fn new(batches: GroupCommitter) -> Self {
        Self {
            state: Mutex::default(),
            wake_writer: Condvar::new(),
            committer: Mutex::new(Some(batches)),
        }
    }

    /// Enqueues work. It is done even if the caller stops waiting.
    fn enqueue(self: &Arc<Self>, job: WriteJob) {
        let mut waiting = self.lock_state();
        if waiting.is_closed {
            return;
        }
        let is_alone = waiting.note_lane(job.work.append_lane());
        waiting.jobs.push_back(job);
        let Ok(runtime) = Handle::try_current() else { return self.wake_writer.notify_one() };
        if waiting.inline_flush.replace(runtime.id()) == Some(runtime.id()) {
            return;
        }
        drop(waiting);
        let flush = InlineFlush { queue: Arc::clone(self) };
        // A task that yields costs a wake-up of another thread of the runtime.
        let remainder = if is_alone { flush.flush() } else { FlushRemainder::Work };
        if let FlushRemainder::Work = remainder {
            runtime.spawn(flush.run());
        }
    }

    /// Runs the writer thread, until the queue is closed and empty.
    fn run_writer_loop(&self) {
        // Also on panic: callers must see that the writer is gone.
        let _gone = CloseOnExit { queue: self };
        while self.wait_for_work() {
            let mut batches = self.lock_committer();
            let Some(batches) = batches.as_mut() else { return };
            let jobs = self.take_batch();
            if !jobs.is_empty() {
                batches.commit(jobs);
            }
            batches.checkpoint_if_due();
        }
        if let Some(batches) = self.lock_committer().take() {
            batches.close();
        }
    }

    /// Lets the writer thread end after it has done the queued work.
    fn close(&self) {
        self.lock_state().is_closed = true;
        self.wake_writer.notify_one();
    }

    /// Waits for work; returns `false` if the queue is closed and empty.
    fn wait_for_work(&self) -> bool {
        let idle = |waiting: &mut CommitQueueState| {
            waiting.jobs.is_empty() && !waiting.is_checkpoint_due && !waiting.is_closed
        };
        let found = self.wake_writer.wait_while(self.lock_state(), idle);
        let mut found = found.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut found.is_checkpoint_due) || !found.jobs.is_empty()
    }

    fn take_batch(&self) -> Vec<WriteJob> {
        let mut waiting = self.lock_state();
        let count = waiting.jobs.len().min(MAX_BATCH);
        waiting.jobs.drain(..count).collect()
    }

    fn return_batch(&self, jobs: Vec<WriteJob>) {
        let mut waiting = self.lock_state();
        jobs.into_iter().rev().for_each(|job| waiting.jobs.push_front(job));
    }

    fn lock_state(&self) -> MutexGuard<'_, CommitQueueState> {
        crate::lock_ignoring_poison(&self.state)
    }

    fn lock_committer(&self) -> MutexGuard<'_, Option<GroupCommitter>> {
        self.committer.lock().unwrap_or_else(|broken| {
            let batches = broken.into_inner();
            batches.as_ref().inspect(|batches| batches.mark_broken());
            batches
        })
    }
}

/// Inline flush by a task of the caller's runtime. On drop it hands what is left to the writer
/// thread, because the runtime may end before the task runs.
struct InlineFlush {
    queue: Arc<CommitQueue>,
}

/// What an inline flush has left.
enum FlushRemainder {
    /// Work that was enqueued meanwhile.
    Work,
    /// Nothing, or what only the writer thread can do.
    Nothing,
}

impl InlineFlush {
    async fn run(self) {
        loop {
            // Every task that is ready adds its work first.
            tokio::task::yield_now().await;
            match self.flush() {
                FlushRemainder::Work => {}
                FlushRemainder::Nothing => return,
            }
        }
    }

    fn flush(&self) -> FlushRemainder {
        let Ok(mut batches) = self.queue.committer.try_lock() else {
            return FlushRemainder::Nothing;
        };
        let Some(batches) = batches.as_mut() else { return FlushRemainder::Nothing };
        if let Err(jobs) = batches.try_commit(self.queue.take_batch()) {
            self.queue.return_batch(jobs);
            return FlushRemainder::Nothing;
        }
        let mut waiting = self.queue.lock_state();
        waiting.is_checkpoint_due |= batches.is_checkpoint_due();
        if waiting.jobs.is_empty() || waiting.is_checkpoint_due {
            waiting.inline_flush = None;
            return FlushRemainder::Nothing;
        }
        FlushRemainder::Work
    }
}

impl Drop for InlineFlush {
    fn drop(&mut self) {
        let mut waiting = self.queue.lock_state();
        waiting.inline_flush = None;
        if !waiting.jobs.is_empty() || waiting.is_checkpoint_due {
            self.queue.wake_writer.notify_one();
        }
    }
}

struct CloseOnExit<'d> {
    queue: &'d CommitQueue,
}

impl Drop for CloseOnExit<'_> {
    fn drop(&mut self) {
        let mut waiting = self.queue.lock_state();
        waiting.is_closed = true;
        waiting.jobs.clear();
    }
}
