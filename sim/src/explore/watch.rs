//! How long something took. The only clock of the explorer; nothing explored depends on it.

use std::time::Instant;

/// A stopwatch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch {
    began: Instant,
}

impl Watch {
    /// Starts now.
    #[expect(clippy::disallowed_methods, reason = "measures the explorer, not the explored")]
    pub(crate) fn start() -> Self {
        Self { began: Instant::now() }
    }

    /// Milliseconds since then.
    pub(crate) fn ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
