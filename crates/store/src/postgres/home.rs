//! What all connections of a store share: where they lead, and how long anybody waits.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::address::{Address, Statements};
use super::tls::Tls;

/// How the store behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// How long a piece of work waits for a server that is down, restarting or frozen.
    pub patience: Duration,
    /// How long opening waits for a server that does not take connections yet.
    pub opening: Duration,
    /// How long a statement may go unanswered before its connection counts as lost.
    pub answer: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            patience: Duration::from_secs(25),
            opening: Duration::from_secs(5),
            answer: Duration::from_secs(8),
        }
    }
}

pub(super) struct Home {
    pub(super) address: Address,
    pub(super) tls: Tls,
    pub(super) settings: Settings,
    unprepared: AtomicBool,
    commits: AtomicU64,
}

impl Home {
    pub(super) fn new(address: Address, tls: Tls, settings: Settings) -> Self {
        let unprepared = AtomicBool::new(address.statements == Statements::Unprepared);
        Self { address, tls, settings, unprepared, commits: AtomicU64::new(0) }
    }

    pub(super) fn place(&self) -> &str {
        &self.address.place
    }

    pub(super) fn statements(&self) -> Statements {
        match self.unprepared.load(Ordering::Relaxed) {
            true => Statements::Unprepared,
            false => Statements::Prepared,
        }
    }

    /// From here on nothing is kept on the server.
    pub(super) fn stop_preparing(&self) {
        self.unprepared.store(true, Ordering::Relaxed);
    }

    /// Connections turned out to be ours alone.
    pub(super) fn prepare_again(&self) {
        self.unprepared.store(false, Ordering::Relaxed);
    }

    pub(super) fn count_commit(&self) {
        self.commits.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }
}
