//! The only clock of this crate: real time, because it waits for real processes.

use std::time::{Duration, Instant};

/// A deadline.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// The deadline after this duration from now.
    pub(crate) fn after(duration: Duration) -> Self {
        Self(now() + duration)
    }

    /// The remaining time; zero once the deadline has passed.
    pub(crate) fn left(self) -> Duration {
        self.0.saturating_duration_since(now())
    }

    pub(crate) fn has_passed(self) -> bool {
        self.left().is_zero()
    }
}

/// Measures the time since its creation.
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

/// Sleeps for a duration.
#[expect(clippy::disallowed_methods, reason = "there is no event for what is polled here")]
pub(crate) fn pause(duration: Duration) {
    std::thread::sleep(duration);
}

#[expect(clippy::disallowed_methods, reason = "processes are killed in real time")]
fn now() -> Instant {
    Instant::now()
}
