//! What a process sees to twice a second for all of its lanes at once: mail that other processes
//! delivered, and lanes that could not be given back. Ten thousand conversations cost one question,
//! and none if nothing is driven here. Every few minutes what is too old is forgotten.

use std::sync::{Arc, Weak};

use windlass_core::ids::{Epoch, LaneId, Millis};

use super::Host;
use crate::keeping::Keeping;
use crate::ports::{Clock, Forgotten, Store, WorkerId};
use crate::telemetry::{self, FORGOT, ForgottenCounts};

/// How long mail from other processes may lie unseen, where no hint comes.
const EVERY_MS: u64 = 500;

/// Between two looks for what is too old, where the last one found nothing.
const FORGET_MS: u64 = 300_000;

/// What one round needs. Nothing of the host is held while the store is asked.
struct Round {
    store: Arc<dyn Store>,
    worker: WorkerId,
    drives: bool,
    keeping: Arc<Keeping>,
    kept: Vec<(LaneId, Epoch)>,
}

/// Walks its rounds until the host is gone.
pub(super) async fn walk(host: Weak<Host>) {
    let Some(clock) = host.upgrade().map(|host| Arc::clone(&host.agent().ports.clock)) else {
        return;
    };
    let mut forget_at = 0;
    loop {
        sleep(clock.as_ref()).await;
        let Some(round) = host.upgrade().map(|host| Round::of(&host)) else { return };
        if clock.monotonic_ms() >= forget_at && !round.forget(clock.now()).await.any() {
            forget_at = clock.monotonic_ms().saturating_add(FORGET_MS);
        }
        for lane in round.walk().await {
            if let Some(host) = host.upgrade() {
                host.kept().remove(&lane);
            }
        }
    }
}

async fn sleep(clock: &dyn Clock) {
    clock.sleep(EVERY_MS).await;
}

impl Round {
    fn of(host: &Host) -> Self {
        Self {
            store: Arc::clone(&host.agent().ports.store),
            worker: Arc::clone(&host.lease.worker),
            drives: host.drives_any(),
            keeping: Arc::clone(host.agents.kept()),
            kept: host.kept().iter().map(|(lane, epoch)| (lane.clone(), *epoch)).collect(),
        }
    }

    /// Forgets some of what is too old. What fails now is tried again later.
    async fn forget(&self, now: Millis) -> Forgotten {
        let forgotten = self.store.forget(self.keeping.forget(now)).await.unwrap_or_default();
        if forgotten.any() {
            telemetry::forgotten(&self.worker, forgotten);
            let counts = ForgottenCounts::from(forgotten);
            let event = telemetry::worker_event(&self.worker, now, (FORGOT, None, &counts));
            // A store that does not answer has more to be told of than this.
            _ = self.store.record_worker_event(event).await;
        }
        forgotten
    }

    /// Gives the lanes that were given back. What fails now is tried again on the next round.
    async fn walk(self) -> Vec<LaneId> {
        if self.drives {
            _ = self.store.hint_at_mail(Arc::clone(&self.worker)).await;
        }
        let mut released = Vec::new();
        for (lane, epoch) in self.kept {
            let worker = Arc::clone(&self.worker);
            if self.store.release(lane.clone(), worker, epoch).await.is_ok() {
                released.push(lane);
            }
        }
        released
    }
}
