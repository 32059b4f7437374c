//! Time in a simulated world: tokio's paused clock, and a wall clock that can be set.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use windlass_core::log::ids::UnixMillis;
use windlass_runtime::ports::{BoxFuture, Clock};

use super::process_gate::{ProcessGate, WorldAccess};

/// The wall clock when a world starts.
const DAWN_MS: u64 = 1_800_000_000_000;

/// The wall clock of a world.
#[derive(Clone)]
pub(crate) struct WallClock {
    start: Instant,
    shown: Arc<AtomicU64>,
    naps: Arc<AtomicU64>,
}

/// Number of waits after which a world counts as an endless loop.
const MOST_NAPS: u64 = 100_000;

impl WallClock {
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
            shown: Arc::new(AtomicU64::new(DAWN_MS)),
            naps: Arc::default(),
        }
    }

    /// Sets the clock forward or back.
    pub(crate) fn jump(&self, ms: i64) {
        let shown = self.shown.load(Ordering::SeqCst);
        self.shown.store(shown.saturating_add_signed(ms), Ordering::SeqCst);
    }

    pub(crate) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn now(&self) -> UnixMillis {
        UnixMillis(self.shown.load(Ordering::SeqCst).saturating_add(self.elapsed_ms()))
    }
}

/// Waits in virtual time.
#[expect(clippy::disallowed_methods, reason = "the simulated world makes time")]
pub(crate) async fn sleep_virtual(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

/// The clock as one process sees it.
pub(crate) struct ProcessClock {
    pub(crate) wall: WallClock,
    pub(crate) gate: Arc<ProcessGate>,
}

impl Clock for ProcessClock {
    fn now(&self) -> UnixMillis {
        self.wall.now()
    }

    fn monotonic_ms(&self) -> u64 {
        self.wall.elapsed_ms()
    }

    fn sleep(&self, ms: u64) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if self.wall.naps.fetch_add(1, Ordering::SeqCst) > MOST_NAPS {
                std::future::pending::<()>().await;
            }
            sleep_virtual(ms).await;
            self.gate.pass(WorldAccess::Work).await;
        })
    }
}
