//! Measures how long something took. The only clock of the explorer; nothing explored depends on
//! it.

use std::time::Instant;

/// A stopwatch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch {
    began: Instant,
}

impl Stopwatch {
    /// Starts a stopwatch now.
    #[expect(clippy::disallowed_methods, reason = "measures the explorer, not the explored")]
    pub(crate) fn start() -> Self {
        Self { began: Instant::now() }
    }

    /// Returns the milliseconds since the start.
    pub(crate) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
