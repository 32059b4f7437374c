//! Which of the processes that look for work goes first. All of them hear of a mail, and if all looked
//! at once they would stand in each other's way; so each lane has one that looks at once, and the
//! others look a moment later, in case it could not. Nobody decides that: whoever works says so now
//! and then, and everybody draws the same lots from the names. Who is mistaken only looks sooner or
//! later than need be.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use windlass_core::ids::LaneId;
use windlass_runtime::ports::WorkerId;

#[cfg(test)]
#[path = "company_tests.rs"]
mod company_tests;

/// Rounds without a word after which somebody is taken to be gone.
const PATIENCE: u32 = 3;

/// Names that are kept in mind.
const MOST: usize = 1_024;

#[derive(Debug)]
pub(super) struct Company {
    own: WorkerId,
    /// The others who work, and the rounds since each was heard.
    others: HashMap<String, u32>,
}

impl Company {
    pub(super) fn of(own: WorkerId) -> Self {
        Self { own, others: HashMap::new() }
    }

    /// Somebody says that it works.
    pub(super) fn hear(&mut self, name: &str) {
        if *name != *self.own && (self.others.len() < MOST || self.others.contains_key(name)) {
            self.others.insert(name.to_owned(), 0);
        }
    }

    /// A round is over in which everybody should have been heard.
    pub(super) fn age(&mut self) {
        self.others.retain(|_, silent| {
            *silent += 1;
            *silent <= PATIENCE
        });
    }

    /// Whether we are to look at once.
    pub(super) fn goes_first(&self, lane: &LaneId) -> bool {
        let own = lot(&self.own, lane);
        self.others.keys().all(|other| lot(other, lane) < own)
    }
}

fn lot(name: &str, lane: &LaneId) -> u64 {
    let mut hasher = DefaultHasher::new();
    (name, lane.as_str()).hash(&mut hasher);
    hasher.finish()
}
