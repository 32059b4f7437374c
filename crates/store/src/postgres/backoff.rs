//! Exponential backoff with jitter, for reconnecting and retrying.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use windlass_runtime::ports::StoreError;

use super::error::{PgError, unreachable_error};

const INITIAL_DELAY: Duration = Duration::from_millis(5);
const MAX_DELAY: Duration = Duration::from_millis(400);

/// How often an operation is retried after a conflict with another transaction.
pub(super) const MAX_CONFLICT_RETRIES: u32 = 20;

#[derive(Debug)]
pub(super) struct ReconnectBackoff {
    next_delay: Duration,
}

impl ReconnectBackoff {
    pub(super) fn new() -> Self {
        Self { next_delay: INITIAL_DELAY }
    }

    #[expect(clippy::disallowed_methods, reason = "a server that is away is asked again later")]
    pub(super) async fn wait_next(&mut self) {
        let part = RandomState::new().hash_one(0) % 50;
        let jitter = self.next_delay.mul_f64(0.5 + part as f64 / 100.0);
        self.next_delay = (self.next_delay * 2).min(MAX_DELAY);
        tokio::time::sleep(jitter).await;
    }
}

/// The state of a retry loop. The caller bounds the loop by a timeout; when that elapses, the last
/// error is the result.
#[derive(Debug)]
pub(super) struct RetryState {
    backoff: ReconnectBackoff,
    retries: u32,
    max_conflict_retries: u32,
    last_error: StoreError,
}

impl RetryState {
    pub(super) fn new(location: &str, max_conflict_retries: u32) -> Self {
        let last_error = unreachable_error(location, "not attempted".to_owned()).into_error();
        Self { backoff: ReconnectBackoff::new(), retries: 0, max_conflict_retries, last_error }
    }

    /// Records why an attempt failed.
    ///
    /// # Errors
    ///
    /// The error itself, if another attempt would not help.
    pub(super) fn record_failure(&mut self, error: PgError) -> Result<(), PgError> {
        match error {
            PgError::ConnectionLost(error) => self.last_error = error,
            PgError::Retry(error) if self.retries < self.max_conflict_retries => {
                self.last_error = error;
            }
            other => return Err(other),
        }
        self.retries += 1;
        Ok(())
    }

    /// Waits before the next attempt.
    pub(super) async fn wait(&mut self) {
        self.backoff.wait_next().await;
    }

    pub(super) fn last_error(&self) -> &StoreError {
        &self.last_error
    }
}
