//! Liveness of other workers, determined only by heartbeat counts that change: how long a
//! conversation takes says nothing about its process, and no clock but this process's own is used.

use std::collections::HashMap;

use crate::ports::{ObservedHeartbeat, WorkerId};
use crate::worker_identity;

#[cfg(test)]
#[path = "liveness_tests.rs"]
mod liveness_tests;

/// The observed heartbeats of other workers.
pub struct LivenessMonitor {
    expiry_ms: u64,
    observed: HashMap<WorkerId, HeartbeatObservation>,
}

struct HeartbeatObservation {
    heartbeats: u64,
    /// When this count was first observed, in monotonic time of this process.
    since_ms: u64,
}

impl LivenessMonitor {
    /// Creates a monitor that treats a worker as dead after `expiry_ms` without a new heartbeat.
    #[must_use]
    pub fn new(expiry_ms: u64) -> Self {
        Self { expiry_ms, observed: HashMap::new() }
    }

    /// Observes the heartbeats of the owners of lanes at `now_ms` and returns those that are dead.
    pub fn find_dead(
        &mut self,
        owners: Vec<ObservedHeartbeat>,
        now_ms: u64,
        own: &str,
    ) -> Vec<ObservedHeartbeat> {
        self.observed.retain(|worker, _| owners.iter().any(|owner| owner.worker == *worker));
        let mut dead = Vec::new();
        for owner in owners {
            let fresh = || HeartbeatObservation { heartbeats: owner.heartbeats, since_ms: now_ms };
            let seen = self.observed.entry(owner.worker.clone()).or_insert_with(fresh);
            if seen.heartbeats != owner.heartbeats {
                *seen = HeartbeatObservation { heartbeats: owner.heartbeats, since_ms: now_ms };
            }
            let silent = now_ms.saturating_sub(seen.since_ms) >= self.expiry_ms;
            if *owner.worker != *own
                && (silent || worker_identity::has_process_ended(&owner.worker))
            {
                dead.push(owner);
            }
        }
        dead
    }
}
