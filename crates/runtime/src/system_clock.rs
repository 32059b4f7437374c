//! The system clock. Wall time is read once and advanced by the monotonic clock, so that a clock
//! that jumps neither fires timers early nor delays them.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use windlass_core::log::ids::UnixMillis;

use crate::ports::{BoxFuture, Clock};

/// The clock of the machine.
#[derive(Debug, Clone)]
pub struct SystemClock {
    wall_at_start: u64,
    start: Instant,
}

impl SystemClock {
    /// Reads the wall clock and starts the clock from there.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the Clock port's own adapter")]
    pub fn start() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { wall_at_start: to_ms(wall), start: Instant::now() }
    }
}

fn to_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Clock for SystemClock {
    fn now(&self) -> UnixMillis {
        UnixMillis(self.wall_at_start.saturating_add(self.monotonic_ms()))
    }

    fn monotonic_ms(&self) -> u64 {
        to_ms(self.start.elapsed())
    }

    #[expect(clippy::disallowed_methods, reason = "this is the Clock port's own adapter")]
    fn sleep(&self, ms: u64) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(Duration::from_millis(ms)))
    }
}
