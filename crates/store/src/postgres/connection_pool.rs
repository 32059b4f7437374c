//! Connection pool for everything but appends and heartbeats. A small pool of our own serves better
//! than a general one: a connection that was left in the middle of an operation must be closed and
//! never reused.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;
use tokio::time::timeout;
use windlass_runtime::ports::{BoxFuture, StoreError};

use super::backoff::ReconnectBackoff;
use super::config::ServerConfig;
use super::connection::PgConnection;
use super::error::{PgError, unreachable_error};

/// How often an operation is retried after a conflict with another transaction.
pub(super) const MAX_CONFLICT_RETRIES: u32 = 20;

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
        let mut last = gone("it was never tried".to_owned());
        let patience = self.config.settings.retry_timeout;
        match timeout(patience, self.retry_until_answered(work, &mut last)).await {
            Ok(answer) => answer,
            Err(_) => Err(last),
        }
    }

    async fn retry_until_answered<'w, T>(
        &self,
        work: impl Fn(PgConnection, AttemptState) -> BoxFuture<'w, PooledResult<T>>,
        last: &mut StoreError,
    ) -> Result<T, StoreError> {
        let mut pauses = ReconnectBackoff::new();
        let mut doubt = AttemptState::Fresh;
        let mut again = 0;
        loop {
            let trouble = match self.take_connection().await {
                Ok(link) => {
                    let (link, outcome) = work(link, doubt).await;
                    match self.return_connection(link, outcome) {
                        Ok(answer) => return Ok(answer),
                        Err(trouble) => trouble,
                    }
                }
                Err(trouble) => trouble,
            };
            match trouble {
                PgError::ConnectionLost(error) => {
                    doubt = AttemptState::MayHaveLanded;
                    *last = error;
                }
                PgError::Retry(error) if again < MAX_CONFLICT_RETRIES => *last = error,
                other => return Err(other.into_error()),
            }
            again += 1;
            pauses.wait_next().await;
        }
    }

    async fn take_connection(&self) -> Result<PgConnection, PgError> {
        let kept = self.lock_idle().pop().filter(|link| !link.is_closed());
        match kept {
            Some(link) => Ok(link),
            None => PgConnection::connect(&self.config).await,
        }
    }

    /// Returns the connection to the pool, unless its state is unknown.
    fn return_connection<T>(
        &self,
        link: PgConnection,
        outcome: Result<T, PgError>,
    ) -> Result<T, PgError> {
        if matches!(outcome, Err(PgError::ConnectionLost(_))) {
            // The idle connections were probably cut together with this one.
            self.lock_idle().clear();
        } else {
            self.lock_idle().push(link);
        }
        outcome
    }

    fn lock_idle(&self) -> MutexGuard<'_, Vec<PgConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
