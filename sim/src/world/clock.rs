//! Time in a simulated world: tokio's paused clock, and a wall clock that can be set.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use windlass_core::ids::Millis;
use windlass_runtime::ports::{Clock, Task};

use super::gate::{Door, Gate};

/// The wall clock when a world begins.
const DAWN_MS: u64 = 1_800_000_000_000;

/// The clock on the wall of a world.
#[derive(Clone)]
pub(crate) struct Wall {
    start: Instant,
    shown: Arc<AtomicU64>,
    naps: Arc<AtomicU64>,
}

/// Naps after which a world counts as running in circles.
const MOST_NAPS: u64 = 100_000;

impl Wall {
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
            shown: Arc::new(AtomicU64::new(DAWN_MS)),
            naps: Arc::default(),
        }
    }

    /// Sets it forward or back.
    pub(crate) fn jump(&self, ms: i64) {
        let shown = self.shown.load(Ordering::SeqCst);
        self.shown.store(shown.saturating_add_signed(ms), Ordering::SeqCst);
    }

    pub(crate) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn now(&self) -> Millis {
        Millis(self.shown.load(Ordering::SeqCst).saturating_add(self.elapsed_ms()))
    }
}

/// Waits in virtual time.
#[expect(clippy::disallowed_methods, reason = "the simulated world makes time")]
pub(crate) async fn nap(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

/// The clock as one process has it.
pub(crate) struct ProcessClock {
    pub(crate) wall: Wall,
    pub(crate) gate: Arc<Gate>,
}

impl Clock for ProcessClock {
    fn now(&self) -> Millis {
        self.wall.now()
    }

    fn monotonic_ms(&self) -> u64 {
        self.wall.elapsed_ms()
    }

    fn sleep(&self, ms: u64) -> Task<'_, ()> {
        Box::pin(async move {
            if self.wall.naps.fetch_add(1, Ordering::SeqCst) > MOST_NAPS {
                std::future::pending::<()>().await;
            }
            nap(ms).await;
            self.gate.pass(Door::Work).await;
        })
    }
}
