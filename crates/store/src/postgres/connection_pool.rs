//! Connection pool for everything but appends and heartbeats. A small pool of our own serves better
//! than a general one: a connection that was left in the middle of an operation must be closed and
//! never reused.

use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Semaphore;
use tokio::time::timeout;
use windlass_runtime::ports::{BoxFuture, StoreError};

use super::backoff::{MAX_CONFLICT_RETRIES, RetryState};
use super::config::ServerConfig;
use super::connection::PgConnection;
use super::error::{PgError, unreachable_error};

pub(super) struct PgPool {
    config: Arc<ServerConfig>,
    permits: Semaphore,
    idle: Mutex<Vec<PgConnection>>,
}

/// Whether an earlier attempt may have been committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttemptState {
    Fresh,
    MayHaveLanded,
}

/// A connection and the result of the work done on it. If the work is dropped halfway, both are
/// dropped.
pub(super) type PooledResult<T> = (PgConnection, Result<T, PgError>);

impl PgPool {
    pub(super) fn new(config: Arc<ServerConfig>) -> Self {
        Self { permits: Semaphore::new(config.address.connections), config, idle: Mutex::default() }
    }

    /// Runs idempotent work until it has a result or the retry timeout elapses.
    pub(super) async fn run_with_retries<'w, T>(
        &self,
        work: impl Fn(PgConnection, AttemptState) -> BoxFuture<'w, PooledResult<T>>,
    ) -> Result<T, StoreError> {
        let gone = |reason: String| unreachable_error(self.config.location(), reason).into_error();
        let _turn = self.permits.acquire().await.map_err(|closed| gone(closed.to_string()))?;
        let mut retries = RetryState::new(self.config.location(), MAX_CONFLICT_RETRIES);
        let retry_timeout = self.config.settings.retry_timeout;
        match timeout(retry_timeout, self.retry_until_answered(work, &mut retries)).await {
            Ok(answer) => answer.map_err(PgError::into_error),
            Err(_) => Err(retries.last_error().clone()),
        }
    }

    async fn retry_until_answered<'w, T>(
        &self,
        work: impl Fn(PgConnection, AttemptState) -> BoxFuture<'w, PooledResult<T>>,
        retries: &mut RetryState,
    ) -> Result<T, PgError> {
        let mut attempt = AttemptState::Fresh;
        loop {
            let error = match self.take_connection().await {
                Ok(connection) => {
                    let (connection, outcome) = work(connection, attempt).await;
                    match self.return_connection(connection, outcome) {
                        Ok(answer) => return Ok(answer),
                        Err(error) => error,
                    }
                }
                Err(error) => error,
            };
            if matches!(error, PgError::ConnectionLost(_)) {
                attempt = AttemptState::MayHaveLanded;
            }
            retries.record_failure(error)?;
            retries.wait().await;
        }
    }

    async fn take_connection(&self) -> Result<PgConnection, PgError> {
        let kept = self.lock_idle().pop().filter(|connection| !connection.is_closed());
        match kept {
            Some(connection) => Ok(connection),
            None => PgConnection::connect(&self.config).await,
        }
    }

    /// Returns the connection to the pool, unless its state is unknown.
    fn return_connection<T>(
        &self,
        connection: PgConnection,
        outcome: Result<T, PgError>,
    ) -> Result<T, PgError> {
        if matches!(outcome, Err(PgError::ConnectionLost(_))) {
            // The idle connections were probably cut together with this one.
            self.lock_idle().clear();
        } else {
            self.lock_idle().push(connection);
        }
        outcome
    }

    fn lock_idle(&self) -> MutexGuard<'_, Vec<PgConnection>> {
        crate::lock_ignoring_poison(&self.idle)
    }
}
