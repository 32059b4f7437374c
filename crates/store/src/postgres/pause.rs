//! How long to wait before asking again: longer each time, and not in step with others.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

const FIRST: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_millis(400);

#[derive(Debug)]
pub(super) struct Pauses {
    next: Duration,
}

impl Pauses {
    pub(super) fn new() -> Self {
        Self { next: FIRST }
    }

    #[expect(clippy::disallowed_methods, reason = "a server that is away is asked again later")]
    pub(super) async fn wait(&mut self) {
        let part = RandomState::new().hash_one(0) % 50;
        let jitter = self.next.mul_f64(0.5 + part as f64 / 100.0);
        self.next = (self.next * 2).min(LONGEST);
        tokio::time::sleep(jitter).await;
    }
}
