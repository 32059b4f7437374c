//! The lease of this worker: one heartbeat per process tells the others that it is alive. If
//! heartbeats fail for too long, the process starts no more effects, before others may take its
//! lanes. Safety does not rest on this but on the store's fence: the lease only narrows the moment
//! in which a process that was frozen could still act once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ports::{Clock, Store, StoreError, WorkerId};

/// How often a worker sends heartbeats, and how long one without heartbeats counts as alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTimes {
    /// The time between two heartbeats, in milliseconds.
    pub heartbeat_ms: u64,
    /// The time without a heartbeat after which others may take the lanes, in milliseconds.
    pub expiry_ms: u64,
}

impl LeaseTimes {
    /// Returns the times of a lease, in milliseconds.
    #[must_use]
    pub const fn new(heartbeat_ms: u64, expiry_ms: u64) -> Self {
        Self { heartbeat_ms, expiry_ms }
    }
}

impl Default for LeaseTimes {
    fn default() -> Self {
        Self::new(3_000, 10_000)
    }
}

/// The lease of this process.
#[derive(Clone)]
pub struct WorkerLease {
    /// The worker id of this process.
    pub worker: WorkerId,
    /// The intervals of the lease.
    pub times: LeaseTimes,
    last_heartbeat_at: Arc<AtomicU64>,
    lapses: Arc<AtomicU64>,
    clock: Arc<dyn Clock>,
}

impl WorkerLease {
    /// Creates a lease for a worker id, without a confirmed heartbeat yet.
    #[must_use]
    pub fn new(worker: WorkerId, times: LeaseTimes, clock: Arc<dyn Clock>) -> Self {
        let (last_heartbeat_at, lapses) = (Arc::default(), Arc::default());
        Self { worker, times, last_heartbeat_at, lapses, clock }
    }

    /// Renews the lease by one heartbeat. The lease counts from the time before the call, not from that of the
    /// response.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store does not record the heartbeat.
    pub async fn renew(&self, store: &dyn Store) -> Result<(), StoreError> {
        let before = self.clock.monotonic_ms().saturating_add(1);
        store.record_heartbeat(self.worker.clone()).await?;
        if !self.is_valid_at(before) {
            self.lapses.fetch_add(1, Ordering::SeqCst);
        }
        self.last_heartbeat_at.fetch_max(before, Ordering::SeqCst);
        Ok(())
    }

    /// Returns the time between two renewals, in milliseconds.
    #[must_use]
    pub fn renewal_interval_ms(&self) -> u64 {
        self.times.heartbeat_ms
    }

    /// Returns how often the lease lapsed: no heartbeat was confirmed for so long that others may
    /// have taken the lanes. A process that was frozen continues to send heartbeats as if nothing
    /// had happened; this count is what tells its drivers.
    #[must_use]
    pub fn lapse_count(&self) -> u64 {
        self.lapses.load(Ordering::SeqCst)
    }

    /// Returns whether enough of the lease is left to start an effect.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.is_valid_at(self.clock.monotonic_ms().saturating_add(1))
    }

    /// Resolves when no heartbeat has been confirmed for so long that others may take the lanes.
    pub async fn wait_until_lapsed(&self) {
        loop {
            let beat_at = self.last_heartbeat_at.load(Ordering::SeqCst);
            let silent = self.clock.monotonic_ms().saturating_add(1).saturating_sub(beat_at);
            if silent >= self.times.expiry_ms {
                return;
            }
            self.clock.sleep((self.times.expiry_ms - silent).max(1)).await;
        }
    }

    fn is_valid_at(&self, now: u64) -> bool {
        let beat_at = self.last_heartbeat_at.load(Ordering::SeqCst);
        beat_at > 0 && now.saturating_sub(beat_at) < self.times.expiry_ms / 3 * 2
    }

    /// Sends heartbeats for ever. Errors are ignored here: a missing heartbeat is what other
    /// processes observe.
    pub async fn run_heartbeat_loop(self, store: Arc<dyn Store>) {
        loop {
            let _ = self.renew(store.as_ref()).await;
            self.clock.sleep(self.times.heartbeat_ms).await;
        }
    }
}
