//! Commit queue: work that waits to be written in the next transaction.
//!
//! On a single-threaded runtime a task flushes the queue inline, as soon as all ready tasks have
//! enqueued their work: handing it to another thread and back would cost more than the commit.
//! Otherwise, and whenever another process holds the file, the writer thread does it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::runtime::{Handle, Id, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use windlass_core::log::record::Durability;
use windlass_runtime::ports::StoreError;

use super::group_commit::GroupCommitter;
use super::write_work::{WriteOutput, WriteWork};

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
pub(super) struct CommitQueue {
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
    /// Whether the write-ahead log is so long that the writer thread should checkpoint it.
    is_checkpoint_due: bool,
    is_closed: bool,
}

impl CommitQueue {
    pub(super) fn new(batches: GroupCommitter) -> Self {
        Self {
            state: Mutex::default(),
            wake_writer: Condvar::new(),
            committer: Mutex::new(Some(batches)),
        }
    }

    /// Enqueues work. It is done even if the caller stops waiting.
    pub(super) fn enqueue(self: &Arc<Self>, job: WriteJob) {
        let mut waiting = self.lock_state();
        if waiting.is_closed {
            return;
        }
        waiting.jobs.push_back(job);
        let Some(runtime) = current_thread_runtime() else { return self.wake_writer.notify_one() };
        if waiting.inline_flush.replace(runtime.id()) != Some(runtime.id()) {
            drop(waiting);
            let visit = InlineFlush { queue: Arc::clone(self) };
            runtime.spawn(async move { visit.run() });
        }
    }

    /// Runs the writer thread, until the queue is closed and empty.
    pub(super) fn run_writer_loop(&self) {
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
    pub(super) fn close(&self) {
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
        let most = waiting.jobs.len().min(MAX_BATCH);
        waiting.jobs.drain(..most).collect()
    }

    fn return_batch(&self, jobs: Vec<WriteJob>) {
        let mut waiting = self.lock_state();
        jobs.into_iter().rev().for_each(|job| waiting.jobs.push_front(job));
    }

    fn lock_state(&self) -> MutexGuard<'_, CommitQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_committer(&self) -> MutexGuard<'_, Option<GroupCommitter>> {
        self.committer.lock().unwrap_or_else(|broken| {
            let batches = broken.into_inner();
            batches.as_ref().inspect(|batches| batches.mark_broken());
            batches
        })
    }
}

/// Returns the current runtime, if it has one thread.
fn current_thread_runtime() -> Option<Handle> {
    let runtime = Handle::try_current().ok()?;
    (runtime.runtime_flavor() == RuntimeFlavor::CurrentThread).then_some(runtime)
}

/// Inline flush by a task of the caller's runtime. On drop it hands what is left to the writer
/// thread, because the runtime may end before the task runs.
struct InlineFlush {
    queue: Arc<CommitQueue>,
}

impl InlineFlush {
    fn run(self) {
        let Ok(mut batches) = self.queue.committer.try_lock() else { return };
        let Some(batches) = batches.as_mut() else { return };
        let jobs = self.queue.take_batch();
        match batches.try_commit(jobs) {
            Ok(()) => self.queue.lock_state().is_checkpoint_due |= batches.is_checkpoint_due(),
            Err(jobs) => self.queue.return_batch(jobs),
        }
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
