//! Rendezvous hashing (highest random weight): each lane has one preferred worker, which polls
//! first; the others poll 4 ms later, in case it could not claim the lane. All workers are notified
//! of a message, and polling at once they would contend for the lane. There is no coordinator:
//! workers announce themselves every few seconds, and each computes the same weights from the
//! names. A wrong view only makes a worker poll sooner or later than needed.

use std::collections::HashMap;

use sha2::{Digest, Sha256};
use windlass_core::log::ids::LaneId;
use windlass_runtime::ports::WorkerId;

#[cfg(test)]
#[path = "rendezvous_tests.rs"]
mod rendezvous_tests;

/// Rounds without an announcement after which a worker is considered gone.
const MAX_SILENT_ROUNDS: u32 = 3;

/// Maximum number of known workers.
const MAX_WORKERS: usize = 1_024;

#[derive(Debug)]
pub(super) struct WorkerRing {
    own: WorkerId,
    /// The other workers, and the rounds since each announced itself.
    others: HashMap<String, u32>,
}

impl WorkerRing {
    pub(super) fn new(own: WorkerId) -> Self {
        Self { own, others: HashMap::new() }
    }

    /// Records that a worker is alive.
    pub(super) fn record_alive(&mut self, name: &str) {
        if *name != *self.own && (self.others.len() < MAX_WORKERS || self.others.contains_key(name))
        {
            self.others.insert(name.to_owned(), 0);
        }
    }

    /// Ends a round: workers that were silent for too long are dropped.
    pub(super) fn expire_silent(&mut self) {
        self.others.retain(|_, silent| {
            *silent += 1;
            *silent <= MAX_SILENT_ROUNDS
        });
    }

    /// Returns whether this worker is the first choice for the lane and polls at once.
    pub(super) fn is_first_choice(&self, lane: &LaneId) -> bool {
        let own = weight(&self.own, lane);
        self.others.keys().all(|other| weight(other, lane) < own)
    }
}

/// Returns the weight of a worker for a lane. Processes of different versions must agree on it, which
/// the hasher of the standard library does not promise.
fn weight(name: &str, lane: &LaneId) -> u64 {
    let pair = Sha256::new().chain_update(name).chain_update([0]).chain_update(lane.as_str());
    pair.finalize().iter().take(8).fold(0, |weight, byte| weight << 8 | u64::from(*byte))
}
