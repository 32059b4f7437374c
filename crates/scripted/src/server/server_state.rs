//! The state that all connections share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;
use windlass_runtime::ports::Clock;

use super::request_body;
use super::request_observer::RequestObserver;
use crate::request_view::OwnedRequestView;
use crate::rule_matching::RuleUses;
use crate::script::Script;
use crate::scripted_answer::ScriptedAnswer;

/// The state that all connections of one server share.
pub(super) struct ServerState {
    script: Script,
    uses: Mutex<RuleUses>,
    requests: AtomicU64,
    pub(super) body_memory: Arc<Semaphore>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) observer: Arc<dyn RequestObserver>,
}

impl ServerState {
    pub(super) fn new(
        script: Script,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn RequestObserver>,
    ) -> Self {
        let (uses, requests) = (Mutex::default(), AtomicU64::new(0));
        Self {
            script,
            uses,
            requests,
            body_memory: Arc::new(request_body::body_memory()),
            clock,
            observer,
        }
    }

    /// The number of a new request, from 1.
    pub(super) fn next_request_number(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    /// The answer of the script.
    pub(super) fn choose_answer(&self, view: &OwnedRequestView) -> ScriptedAnswer {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        view.with_view(|seen| self.script.answer(&mut uses, seen))
    }

    /// The time in seconds since 1970.
    pub(super) fn unix_seconds(&self) -> u64 {
        self.clock.now().0 / 1_000
    }
}
