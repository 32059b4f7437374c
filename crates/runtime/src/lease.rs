//! The right to append, as this process knows it. One beat per process tells the others that it
//! lives; when beats go unanswered for too long it stops starting effects before the others may take
//! its lanes. Safety does not rest on this: the store's fence does. This only narrows the moment in
//! which a process that was frozen could still act once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ports::{Clock, Store, StoreError, WorkerId};

/// How long a silent worker counts as alive, and how often it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTimes {
    /// Time between two beats.
    pub beat_ms: u64,
    /// Silence after which others may take its lanes.
    pub expiry_ms: u64,
}

impl Default for LeaseTimes {
    fn default() -> Self {
        Self { beat_ms: 3_000, expiry_ms: 10_000 }
    }
}

/// This process's lease.
#[derive(Clone)]
pub struct Lease {
    /// This process's name.
    pub worker: WorkerId,
    /// Its times.
    pub times: LeaseTimes,
    beat_at: Arc<AtomicU64>,
    lapses: Arc<AtomicU64>,
    clock: Arc<dyn Clock>,
}

impl Lease {
    /// A lease under a new name, not yet confirmed.
    #[must_use]
    pub fn new(worker: WorkerId, times: LeaseTimes, clock: Arc<dyn Clock>) -> Self {
        let (beat_at, lapses) = (Arc::default(), Arc::default());
        Self { worker, times, beat_at, lapses, clock }
    }

    /// Beats once. The moment before the call counts, not the moment of the answer.
    pub async fn beat(&self, store: &dyn Store) -> Result<(), StoreError> {
        let before = self.clock.monotonic_ms().saturating_add(1);
        store.beat(self.worker.clone()).await?;
        if !self.lasts_until(before) {
            self.lapses.fetch_add(1, Ordering::SeqCst);
        }
        self.beat_at.fetch_max(before, Ordering::SeqCst);
        Ok(())
    }

    /// How often it was silent for so long that others may have taken its lanes. A process that was
    /// frozen beats again as if nothing had happened: this is what tells its drivers.
    #[must_use]
    pub fn lapses(&self) -> u64 {
        self.lapses.load(Ordering::SeqCst)
    }

    /// Whether enough of the lease is left to start an effect.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.lasts_until(self.clock.monotonic_ms().saturating_add(1))
    }

    /// Resolves when no beat has been answered for so long that others may take the lanes.
    pub async fn lapsed(&self) {
        loop {
            let beat_at = self.beat_at.load(Ordering::SeqCst);
            let silent = self.clock.monotonic_ms().saturating_add(1).saturating_sub(beat_at);
            if silent >= self.times.expiry_ms {
                return;
            }
            self.clock.sleep((self.times.expiry_ms - silent).max(1)).await;
        }
    }

    fn lasts_until(&self, now: u64) -> bool {
        let beat_at = self.beat_at.load(Ordering::SeqCst);
        beat_at > 0 && now.saturating_sub(beat_at) < self.times.expiry_ms / 3 * 2
    }

    /// Beats for ever. Errors are not the beater's to judge: silence is what others see.
    pub async fn keep(self, store: Arc<dyn Store>) {
        loop {
            let _ = self.beat(store.as_ref()).await;
            self.clock.sleep(self.times.beat_ms).await;
        }
    }
}
