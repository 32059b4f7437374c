//! Housekeeping, twice a second for all lanes of a process at once: hints for messages of other
//! processes, and release of lanes whose release failed. Ten thousand conversations cost one query,
//! and none if nothing is driven here. Every few minutes old rows are deleted (retention).

use std::sync::{Arc, Weak};

use windlass_core::log::ids::{Epoch, LaneId, UnixMillis};

use super::LaneHost;
use crate::ports::{Clock, DeletedRows, Store, WorkerId};
use crate::retention::RetentionPolicy;
use crate::telemetry::{self, DeletedRowCounts, ROWS_DELETED};

/// How long messages from other processes may remain unseen without a hint, in milliseconds.
const POLL_INTERVAL_MS: u64 = 500;

/// The time between two retention passes if the last one deleted nothing, in milliseconds.
const RETENTION_INTERVAL_MS: u64 = 300_000;

/// The data of one pass. Nothing of the host is held while the store is queried.
struct HousekeepingPass {
    store: Arc<dyn Store>,
    worker: WorkerId,
    is_driving: bool,
    retention: Arc<RetentionPolicy>,
    unreleased: Vec<(LaneId, Epoch)>,
}

/// Runs housekeeping until the host is gone.
pub(super) async fn run_housekeeping(host: Weak<LaneHost>) {
    let Some(clock) = host.upgrade().map(|host| Arc::clone(&host.agent().ports.clock)) else {
        return;
    };
    let mut forget_at = 0;
    loop {
        wait_for_next_pass(clock.as_ref()).await;
        let Some(round) = host.upgrade().map(|host| HousekeepingPass::from_host(&host)) else {
            return;
        };
        if clock.monotonic_ms() >= forget_at && !round.forget_old_rows(clock.now()).await.has_any()
        {
            forget_at = clock.monotonic_ms().saturating_add(RETENTION_INTERVAL_MS);
        }
        for lane in round.release_lanes().await {
            if let Some(host) = host.upgrade() {
                host.lock_unreleased().remove(&lane);
            }
        }
    }
}

async fn wait_for_next_pass(clock: &dyn Clock) {
    clock.sleep(POLL_INTERVAL_MS).await;
}

impl HousekeepingPass {
    fn from_host(host: &LaneHost) -> Self {
        Self {
            store: Arc::clone(&host.agent().ports.store),
            worker: Arc::clone(&host.lease.worker),
            is_driving: host.is_driving_any(),
            retention: Arc::clone(host.agents.retention()),
            unreleased: host
                .lock_unreleased()
                .iter()
                .map(|(lane, epoch)| (lane.clone(), *epoch))
                .collect(),
        }
    }

    /// Deletes a bounded number of old rows. Failures are retried later.
    async fn forget_old_rows(&self, now: UnixMillis) -> DeletedRows {
        let forgotten =
            self.store.forget_old_rows(self.retention.cutoffs_at(now)).await.unwrap_or_default();
        if forgotten.has_any() {
            telemetry::emit_rows_deleted(&self.worker, forgotten);
            let counts = DeletedRowCounts::from(forgotten);
            let event =
                telemetry::build_worker_event(&self.worker, now, (ROWS_DELETED, None, &counts));
            // Errors are ignored: a store that does not respond is reported elsewhere.
            _ = self.store.record_worker_event(event).await;
        }
        forgotten
    }

    /// Gives hints for unread messages, then releases lanes without a driver and returns those that
    /// were released. Failures are retried in the next pass.
    async fn release_lanes(self) -> Vec<LaneId> {
        if self.is_driving {
            _ = self.store.hint_unread_messages(Arc::clone(&self.worker)).await;
        }
        let mut released = Vec::new();
        for (lane, epoch) in self.unreleased {
            let worker = Arc::clone(&self.worker);
            if self.store.release_lane(lane.clone(), worker, epoch).await.is_ok() {
                released.push(lane);
            }
        }
        released
    }
}
