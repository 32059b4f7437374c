//! What a process sees to twice a second for all of its lanes at once: mail that other processes
//! delivered, and lanes that could not be given back. Ten thousand conversations cost one question,
//! and none if nothing is driven here.

use std::sync::{Arc, Weak};

use windlass_core::ids::{Epoch, LaneId};

use super::Host;
use crate::ports::{Clock, Store, WorkerId};

/// How long mail from other processes may lie unseen, where no hint comes.
const EVERY_MS: u64 = 500;

/// What one round needs. Nothing of the host is held while the store is asked.
struct Round {
    store: Arc<dyn Store>,
    worker: WorkerId,
    drives: bool,
    kept: Vec<(LaneId, Epoch)>,
}

/// Walks its rounds until the host is gone.
pub(super) async fn walk(host: Weak<Host>) {
    let Some(clock) = host.upgrade().map(|host| Arc::clone(&host.agent().ports.clock)) else {
        return;
    };
    loop {
        sleep(clock.as_ref()).await;
        let Some(round) = host.upgrade().map(|host| Round::of(&host)) else { return };
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
            kept: host.kept().iter().map(|(lane, epoch)| (lane.clone(), *epoch)).collect(),
        }
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
