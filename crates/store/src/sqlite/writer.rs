//! The one thread of this process that writes. It takes whatever queued up while it was busy and
//! commits it together: no timer, so a lone writer never waits for company.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};
use windlass_core::record::Durability;
use windlass_runtime::ports::StoreError;

use super::batch::Batches;
use super::checkpoint::Checkpoints;
use super::home::Home;
use super::step::{Answer, Work};
use super::sync::Syncer;
use crate::hints::Hints;

/// Work that may wait; more of it waits outside.
const QUEUE: usize = 1_024;

/// Work committed together.
const BATCH: usize = 256;

/// A piece of work and who waits for it.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) durability: Durability,
    pub(super) reply: oneshot::Sender<Result<Answer, StoreError>>,
}

#[derive(Debug)]
pub(super) struct Writer {
    home: Arc<Home>,
    queue: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(
        home: Arc<Home>,
        mut connection: Connection,
        hints: Arc<Hints>,
    ) -> Result<Self, StoreError> {
        let failed = |error: String| StoreError::Broken { place: home.place(), reason: error };
        let watch = Checkpoints::watch(&mut connection);
        let checkpoints = watch.map_err(|error| failed(error.to_string()))?;
        let syncer = Syncer::start(Arc::clone(&home)).map_err(|error| failed(error.to_string()))?;
        let batches = Batches::new(Arc::clone(&home), connection, hints, syncer);
        let (queue, jobs) = mpsc::channel(QUEUE);
        let thread = thread::Builder::new()
            .name("windlass-writer".to_owned())
            .spawn(move || write(jobs, batches, &checkpoints))
            .map_err(|error| failed(error.to_string()))?;
        Ok(Self { home, queue: Some(queue), thread: Some(thread) })
    }

    /// Hands over work and waits until it is as durable as it must be. Work that was handed over
    /// is done, also if nobody waits for it any more.
    pub(super) async fn submit(
        &self,
        work: Work,
        durability: Durability,
    ) -> Result<Answer, StoreError> {
        let (reply, answer) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or_else(|| self.gone())?;
        queue.send(Job { work, durability, reply }).await.map_err(|_| self.gone())?;
        answer.await.map_err(|_| self.gone())?
    }

    /// Ends the thread after what it has accepted.
    pub(super) fn close(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }

    fn gone(&self) -> StoreError {
        let stopped = || "the writer has stopped".to_owned();
        let gone = |reason| StoreError::Broken { place: self.home.place(), reason };
        self.home.sound().err().unwrap_or_else(|| gone(stopped()))
    }
}

fn write(mut jobs: mpsc::Receiver<Job>, mut batches: Batches, checkpoints: &Checkpoints) {
    let mut batch = Vec::new();
    while jobs.blocking_recv_many(&mut batch, BATCH) > 0 {
        batches.commit(std::mem::take(&mut batch));
        batches.between(checkpoints);
    }
    batches.close();
}
