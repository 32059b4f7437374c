//! Exponential backoff with jitter, for reconnecting and retrying.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

const INITIAL_DELAY: Duration = Duration::from_millis(5);
const MAX_DELAY: Duration = Duration::from_millis(400);

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
