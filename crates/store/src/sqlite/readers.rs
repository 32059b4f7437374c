//! Connections that only read, used from threads that may block.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;
use windlass_runtime::ports::StoreError;

use super::error::Stop;
use super::home::Home;
use super::open::open_reader;

/// Reads that run at once; more of them wait.
const AT_ONCE: usize = 4;

#[derive(Debug)]
pub(super) struct Readers {
    home: Arc<Home>,
    turns: Semaphore,
    /// `None` once the store is closed.
    idle: Mutex<Option<Vec<Connection>>>,
}

impl Readers {
    pub(super) fn new(home: Arc<Home>) -> Self {
        Self { home, turns: Semaphore::new(AT_ONCE), idle: Mutex::new(Some(Vec::new())) }
    }

    /// Asks the database.
    pub(super) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        query: impl FnOnce(&Connection) -> Result<T, Stop> + Send + 'static,
    ) -> Result<T, StoreError> {
        let home = Arc::clone(&self.home);
        self.run(move |connection| query(connection).map_err(|stop| stop.at(&home))).await
    }

    /// Runs `query` where it may block.
    pub(super) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        query: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let gone = |reason: String| StoreError::Broken { place: self.home.place(), reason };
        let _turn = self.turns.acquire().await.map_err(|closed| gone(closed.to_string()))?;
        let this = Arc::clone(self);
        let answer = tokio::task::spawn_blocking(move || this.with_connection(query));
        answer.await.map_err(|lost| gone(lost.to_string()))?
    }

    fn with_connection<T>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let kept = self.idle().as_mut().and_then(Vec::pop);
        let connection = match kept {
            Some(connection) => connection,
            None => open_reader(&self.home).map_err(|error| self.home.explain(&error))?,
        };
        let answer = query(&connection);
        if let Some(idle) = self.idle().as_mut() {
            idle.push(connection);
        }
        answer
    }

    pub(super) fn close(&self) {
        self.turns.close();
        *self.idle() = None;
    }

    fn idle(&self) -> MutexGuard<'_, Option<Vec<Connection>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
