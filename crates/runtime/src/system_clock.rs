//! The machine's clock. Wall time is read once and carried forward by the monotonic clock, so a
//! clock that jumps neither wakes anybody early nor lets anybody sleep for an hour.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use windlass_core::ids::Millis;

use crate::ports::{Clock, Task};

/// The machine's clock.
#[derive(Debug, Clone)]
pub struct SystemClock {
    wall_at_start: u64,
    start: Instant,
}

impl SystemClock {
    /// Reads the wall clock.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the Clock port's own adapter")]
    pub fn start() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { wall_at_start: as_ms(wall), start: Instant::now() }
    }
}

fn as_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Clock for SystemClock {
    fn now(&self) -> Millis {
        Millis(self.wall_at_start.saturating_add(self.monotonic_ms()))
    }

    fn monotonic_ms(&self) -> u64 {
        as_ms(self.start.elapsed())
    }

    #[expect(clippy::disallowed_methods, reason = "this is the Clock port's own adapter")]
    fn sleep(&self, ms: u64) -> Task<'_, ()> {
        Box::pin(tokio::time::sleep(Duration::from_millis(ms)))
    }
}
