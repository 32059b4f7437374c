//! Who is alive, judged by beats that move and by nothing else: how long a conversation takes says
//! nothing about its process, and no clock but this process's own is believed.

use std::collections::HashMap;

use crate::identity;
use crate::ports::{SeenBeat, WorkerId};

#[cfg(test)]
#[path = "watch_tests.rs"]
mod watch_tests;

/// What was seen of other workers' beats.
pub struct Watch {
    expiry_ms: u64,
    seen: HashMap<WorkerId, Seen>,
}

struct Seen {
    beats: u64,
    /// When it was first seen so, in this process's own time.
    since_ms: u64,
}

impl Watch {
    /// A silence of `expiry_ms` is death.
    #[must_use]
    pub fn new(expiry_ms: u64) -> Self {
        Self { expiry_ms, seen: HashMap::new() }
    }

    /// Takes in what the owners of lanes show at `now_ms` and says which of them are dead.
    pub fn dead(&mut self, owners: Vec<SeenBeat>, now_ms: u64, own: &str) -> Vec<SeenBeat> {
        self.seen.retain(|worker, _| owners.iter().any(|owner| owner.worker == *worker));
        let mut dead = Vec::new();
        for owner in owners {
            let fresh = || Seen { beats: owner.beats, since_ms: now_ms };
            let seen = self.seen.entry(owner.worker.clone()).or_insert_with(fresh);
            if seen.beats != owner.beats {
                *seen = Seen { beats: owner.beats, since_ms: now_ms };
            }
            let silent = now_ms.saturating_sub(seen.since_ms) >= self.expiry_ms;
            if *owner.worker != *own && (silent || identity::is_gone(&owner.worker)) {
                dead.push(owner);
            }
        }
        dead
    }
}
