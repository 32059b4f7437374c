//! Pool of read-only connections, used on blocking threads.

use std::sync::{Arc, Mutex, MutexGuard};

use rusqlite::Connection;
use tokio::sync::Semaphore;
use windlass_runtime::ports::StoreError;

use super::database_file::DatabaseFile;
use super::error::WorkError;
use super::open::open_reader;

/// Maximum number of concurrent reads; more of them wait.
const MAX_CONCURRENT_READS: usize = 4;

#[derive(Debug)]
pub(super) struct ReaderPool {
    file: Arc<DatabaseFile>,
    permits: Semaphore,
    /// Idle connections; `None` once the store is closed.
    idle: Mutex<Option<Vec<Connection>>>,
}

impl ReaderPool {
    pub(super) fn new(file: Arc<DatabaseFile>) -> Self {
        Self {
            file,
            permits: Semaphore::new(MAX_CONCURRENT_READS),
            idle: Mutex::new(Some(Vec::new())),
        }
    }

    /// Runs a query on a read-only connection.
    pub(super) async fn query<T: Send + 'static>(
        self: &Arc<Self>,
        query: impl FnOnce(&Connection) -> Result<T, WorkError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let file = Arc::clone(&self.file);
        self.run_blocking(move |connection| {
            query(connection).map_err(|stop| stop.into_store_error(&file))
        })
        .await
    }

    /// Runs `query` on a blocking thread.
    pub(super) async fn run_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        query: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let gone = |reason: String| StoreError::Broken { location: self.file.location(), reason };
        let _turn = self.permits.acquire().await.map_err(|closed| gone(closed.to_string()))?;
        let this = Arc::clone(self);
        let answer = tokio::task::spawn_blocking(move || this.with_connection(query));
        answer.await.map_err(|lost| gone(lost.to_string()))?
    }

    fn with_connection<T>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let kept = self.lock_idle().as_mut().and_then(Vec::pop);
        let connection = match kept {
            Some(connection) => connection,
            None => open_reader(&self.file).map_err(|error| self.file.explain_error(&error))?,
        };
        let answer = query(&connection);
        if let Some(idle) = self.lock_idle().as_mut() {
            idle.push(connection);
        }
        answer
    }

    pub(super) fn close(&self) {
        self.permits.close();
        *self.lock_idle() = None;
    }

    fn lock_idle(&self) -> MutexGuard<'_, Option<Vec<Connection>>> {
        crate::lock_ignoring_poison(&self.idle)
    }
}
