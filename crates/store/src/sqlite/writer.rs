//! Where work is handed over. The one connection of this process that writes takes whatever queued
//! up while it was busy and commits it together: no timer, so a lone writer never waits for company.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::{Semaphore, oneshot};
use windlass_core::record::Durability;
use windlass_runtime::ports::StoreError;

use super::batch::Batches;
use super::checkpoint::Checkpoints;
use super::desk::{Desk, Job};
use super::home::Home;
use super::step::{Answer, Work};
use super::sync::Syncer;
use crate::hints::Hints;

/// Work that may wait; more of it waits outside.
const QUEUE: usize = 1_024;

#[derive(Debug)]
pub(super) struct Writer {
    home: Arc<Home>,
    desk: Arc<Desk>,
    room: Arc<Semaphore>,
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
        let batches = Batches::new(Arc::clone(&home), connection, hints, syncer, checkpoints);
        let desk = Arc::new(Desk::new(batches));
        let attended = Arc::clone(&desk);
        let thread = thread::Builder::new()
            .name("windlass-writer".to_owned())
            .spawn(move || attended.attend())
            .map_err(|error| failed(error.to_string()))?;
        Ok(Self { home, desk, room: Arc::new(Semaphore::new(QUEUE)), thread: Some(thread) })
    }

    /// Hands over work and waits until it is as durable as it must be. Work that was handed over
    /// is done, also if nobody waits for it any more.
    pub(super) async fn submit(
        &self,
        work: Work,
        durability: Durability,
    ) -> Result<Answer, StoreError> {
        let room = Arc::clone(&self.room).acquire_owned().await.map_err(|_| self.gone())?;
        let (reply, answer) = oneshot::channel();
        self.desk.put(Job { work, durability, reply, _room: room });
        answer.await.map_err(|_| self.gone())?
    }

    /// Ends the thread after what it has accepted.
    pub(super) fn close(&mut self) {
        self.desk.close();
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
