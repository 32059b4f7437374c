//! What waits to be written, and whoever comes to write it: all that waits goes into one transaction.
//!
//! On a runtime with one thread a visitor comes by as soon as everybody who is ready has put down
//! what they have: handing it to another thread and back would cost more than the commit. Everywhere
//! else, and whenever somebody else holds the file, the writer's own thread does it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::runtime::{Handle, Id, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use windlass_core::record::Durability;
use windlass_runtime::ports::StoreError;

use super::batch::Batches;
use super::step::{Answer, Work};

/// Work committed together.
const BATCH: usize = 256;

/// A piece of work and who waits for it.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) durability: Durability,
    pub(super) reply: oneshot::Sender<Result<Answer, StoreError>>,
    /// Its place among those that may wait.
    pub(super) _room: OwnedSemaphorePermit,
}

#[derive(Debug)]
pub(super) struct Desk {
    waiting: Mutex<Waiting>,
    news: Condvar,
    /// `None` once the store is closed.
    batches: Mutex<Option<Batches>>,
}

#[derive(Debug, Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    /// The runtime that a visitor is about to come from.
    visitor: Option<Id>,
    /// The log has grown so long that the thread is to move it.
    log_is_long: bool,
    closed: bool,
}

impl Desk {
    pub(super) fn new(batches: Batches) -> Self {
        Self { waiting: Mutex::default(), news: Condvar::new(), batches: Mutex::new(Some(batches)) }
    }

    /// Puts down work that will be done, also if nobody waits for it any more.
    pub(super) fn put(self: &Arc<Self>, job: Job) {
        let mut waiting = self.waiting();
        if waiting.closed {
            return;
        }
        waiting.jobs.push_back(job);
        let Some(runtime) = lone_thread() else { return self.news.notify_one() };
        if waiting.visitor.replace(runtime.id()) != Some(runtime.id()) {
            drop(waiting);
            let visit = Visit { desk: Arc::clone(self) };
            runtime.spawn(async move { visit.make() });
        }
    }

    /// The thread's work, until the desk is closed and nothing is left on it.
    pub(super) fn attend(&self) {
        // Also if it breaks down: whoever waits for it must hear that it is gone.
        let _gone = Gone { desk: self };
        while self.wait() {
            let mut batches = self.batches();
            let Some(batches) = batches.as_mut() else { return };
            let jobs = self.take();
            if !jobs.is_empty() {
                batches.commit(jobs);
            }
            batches.move_log();
        }
        if let Some(batches) = self.batches().take() {
            batches.close();
        }
    }

    /// Lets the thread end after what was put down.
    pub(super) fn close(&self) {
        self.waiting().closed = true;
        self.news.notify_one();
    }

    /// Waits for something to do; `false` if nothing more will come.
    fn wait(&self) -> bool {
        let idle = |waiting: &mut Waiting| {
            waiting.jobs.is_empty() && !waiting.log_is_long && !waiting.closed
        };
        let found = self.news.wait_while(self.waiting(), idle);
        let mut found = found.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut found.log_is_long) || !found.jobs.is_empty()
    }

    fn take(&self) -> Vec<Job> {
        let mut waiting = self.waiting();
        let most = waiting.jobs.len().min(BATCH);
        waiting.jobs.drain(..most).collect()
    }

    fn give_back(&self, jobs: Vec<Job>) {
        let mut waiting = self.waiting();
        jobs.into_iter().rev().for_each(|job| waiting.jobs.push_front(job));
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn batches(&self) -> MutexGuard<'_, Option<Batches>> {
        self.batches.lock().unwrap_or_else(|broken| {
            let batches = broken.into_inner();
            batches.as_ref().inspect(|batches| batches.break_down());
            batches
        })
    }
}

/// The runtime we are on, if nobody but its one thread runs its tasks.
fn lone_thread() -> Option<Handle> {
    let runtime = Handle::try_current().ok()?;
    (runtime.runtime_flavor() == RuntimeFlavor::CurrentThread).then_some(runtime)
}

/// Somebody who comes by to write. Leaving, they tell the thread of what they did not do: a runtime
/// may end before they came.
struct Visit {
    desk: Arc<Desk>,
}

impl Visit {
    fn make(self) {
        let Ok(mut batches) = self.desk.batches.try_lock() else { return };
        let Some(batches) = batches.as_mut() else { return };
        let jobs = self.desk.take();
        match batches.try_commit(jobs) {
            Ok(()) => self.desk.waiting().log_is_long |= batches.log_is_long(),
            Err(jobs) => self.desk.give_back(jobs),
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut waiting = self.desk.waiting();
        waiting.visitor = None;
        if !waiting.jobs.is_empty() || waiting.log_is_long {
            self.desk.news.notify_one();
        }
    }
}

struct Gone<'d> {
    desk: &'d Desk,
}

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        let mut waiting = self.desk.waiting();
        waiting.closed = true;
        waiting.jobs.clear();
    }
}
