//! What all connections share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;
use windlass_runtime::ports::Clock;

use super::super::answer::Answer;
use super::super::matching::Uses;
use super::super::script::Script;
use super::super::view::View;
use super::body;
use super::watch::Watch;

/// Shared by all connections of one server.
pub(super) struct State {
    script: Script,
    uses: Mutex<Uses>,
    requests: AtomicU64,
    pub(super) memory: Arc<Semaphore>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) watch: Arc<dyn Watch>,
}

impl State {
    pub(super) fn new(script: Script, clock: Arc<dyn Clock>, watch: Arc<dyn Watch>) -> Self {
        let (uses, requests) = (Mutex::default(), AtomicU64::new(0));
        Self { script, uses, requests, memory: Arc::new(body::memory()), clock, watch }
    }

    /// The number of a new request, from 1.
    pub(super) fn next_number(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    /// What the script answers.
    pub(super) fn answer(&self, view: &View) -> Answer {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        view.with(|seen| self.script.answer(&mut uses, seen))
    }

    /// Now, in seconds since 1970.
    pub(super) fn seconds(&self) -> u64 {
        self.clock.now().0 / 1_000
    }
}
