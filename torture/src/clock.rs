//! The only clock of this crate: real time, because real processes are waited for.

use std::time::{Duration, Instant};

/// A moment to come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// So long from now.
    pub(crate) fn after(duration: Duration) -> Self {
        Self(now() + duration)
    }

    /// What is left of it; nothing once it has passed.
    pub(crate) fn left(self) -> Duration {
        self.0.saturating_duration_since(now())
    }

    pub(crate) fn has_passed(self) -> bool {
        self.left().is_zero()
    }
}

/// Time since it was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        now().saturating_duration_since(self.0)
    }
}

/// Waits.
#[expect(clippy::disallowed_methods, reason = "there is no event for what is polled here")]
pub(crate) fn pause(duration: Duration) {
    std::thread::sleep(duration);
}

#[expect(clippy::disallowed_methods, reason = "processes are killed in real time")]
fn now() -> Instant {
    Instant::now()
}
