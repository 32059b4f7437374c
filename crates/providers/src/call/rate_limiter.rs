//! The rate limiter: one gate per credential and model, shared by all conversations of the process.
//!
//! A gate learns from what the provider reports: how many requests and tokens are left, and when to
//! retry. Calls queue rather than fail; one that would wait longer than a minute gets an error with
//! the wait, so that its run can be parked instead. After an overload a few calls at a time are
//! admitted, and more with every success: a thousand waiting runs do not return at once.

mod headers;
mod state;

#[cfg(test)]
mod state_tests;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use windlass_runtime::ports::Clock;

use crate::error::call_error::CallError;
use crate::limits::{MAX_LIMITER_WAIT_MS, MAX_QUEUED_CALLS};

pub(crate) use headers::RateLimitHeaders;
pub(crate) use state::CallOutcome;
use state::{Admission, RateGateState};

/// The gates by credential and model.
pub struct RateLimiter {
    gates: Mutex<HashMap<Arc<str>, Arc<RateGate>>>,
    clock: Arc<dyn Clock>,
}

/// A snapshot of a gate, for monitoring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateGateSnapshot {
    /// Provider, model and a short hash of the credential.
    pub name: Arc<str>,
    /// The number of calls in flight.
    pub in_flight: usize,
    /// The number of queued calls.
    pub waiting: usize,
    /// How many calls may be in flight; `None` if there is no limit.
    pub max_in_flight: Option<usize>,
    /// Milliseconds until the next call may start.
    pub closed_for_ms: u64,
    /// The number of requests left, as the provider reported it.
    pub requests_remaining: Option<u64>,
    /// The number of input tokens left, as the provider reported it.
    pub tokens_remaining: Option<u64>,
}

pub(crate) struct RateGate {
    state: Mutex<RateGateState>,
    clock: Arc<dyn Clock>,
}

impl RateLimiter {
    /// Creates a limiter that has learned nothing yet.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { gates: Mutex::default(), clock }
    }

    pub(crate) fn gate_for(&self, name: &Arc<str>) -> Arc<RateGate> {
        let mut gates = self.gates.lock();
        let gate = gates.entry(Arc::clone(name)).or_insert_with(|| {
            let (state, clock) = (Mutex::default(), Arc::clone(&self.clock));
            Arc::new(RateGate { state, clock })
        });
        Arc::clone(gate)
    }

    /// Returns a snapshot of every gate, by name.
    #[must_use]
    pub fn snapshot(&self) -> Vec<RateGateSnapshot> {
        let gates = self.gates.lock();
        let mut views: Vec<RateGateSnapshot> =
            gates.iter().map(|(name, gate)| gate.snapshot(name)).collect();
        views.sort_by(|a, b| a.name.cmp(&b.name));
        views
    }
}

impl std::fmt::Debug for RateLimiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.snapshot()).finish()
    }
}

/// The permit for one call. Dropping it without an outcome counts as an abandoned call.
pub(crate) struct CallPermit {
    gate: Arc<RateGate>,
}

impl CallPermit {
    /// Records the rate limit headers of the response.
    pub(crate) fn record_headers(&self, said: &RateLimitHeaders) {
        let now = self.gate.clock.monotonic_ms();
        self.gate.lock_state().record_headers(said, now);
    }

    /// Records the outcome of the call.
    pub(crate) fn record_outcome(&self, outcome: CallOutcome) {
        let now = self.gate.clock.monotonic_ms();
        self.gate.lock_state().record_outcome(outcome, now);
    }
}

impl Drop for CallPermit {
    fn drop(&mut self) {
        let mut state = self.gate.lock_state();
        state.release();
        state.wake_first();
    }
}

impl RateGate {
    fn lock_state(&self) -> MutexGuard<'_, RateGateState> {
        self.state.lock()
    }

    fn snapshot(&self, name: &Arc<str>) -> RateGateSnapshot {
        let now = self.clock.monotonic_ms();
        self.lock_state().snapshot(Arc::clone(name), now)
    }

    /// Waits in the queue for a permit for a call of about `tokens` input tokens.
    pub(crate) async fn acquire(self: &Arc<Self>, tokens: u64) -> Result<CallPermit, CallError> {
        let arrived = self.clock.monotonic_ms();
        let place = {
            let mut state = self.lock_state();
            if state.queue_len() == 0
                && matches!(state.try_admit(tokens, arrived), Admission::Admitted)
            {
                return Ok(CallPermit { gate: Arc::clone(self) });
            }
            if state.queue_len() >= MAX_QUEUED_CALLS {
                return Err(rate_limited_error(
                    "too many calls are queued for this model",
                    MAX_LIMITER_WAIT_MS,
                ));
            }
            QueuedCall { gate: self, ticket: 0, wake_up: Arc::default() }.enqueue(&mut state)
        };
        self.wait_for_permit(&place, tokens, arrived).await
    }

    async fn wait_for_permit(
        self: &Arc<Self>,
        place: &QueuedCall<'_>,
        tokens: u64,
        arrived: u64,
    ) -> Result<CallPermit, CallError> {
        loop {
            let now = self.clock.monotonic_ms();
            let patience = MAX_LIMITER_WAIT_MS.saturating_sub(now.saturating_sub(arrived));
            let pause = {
                let mut state = self.lock_state();
                match state.try_admit_first(place.ticket, tokens, now) {
                    Admission::Admitted => return Ok(CallPermit { gate: Arc::clone(self) }),
                    Admission::WaitMs(ms) if ms > patience => {
                        return Err(rate_limited_error("rate limited by the provider", ms));
                    }
                    Admission::WaitMs(ms) => ms,
                    Admission::AfterOthers => patience,
                }
            };
            if patience == 0 {
                return Err(rate_limited_error(
                    "other calls to this model are still in progress",
                    1_000,
                ));
            }
            tokio::select! {
                biased;
                () = place.wake_up.notified() => {}
                () = self.clock.sleep(pause.max(1)) => {}
            }
        }
    }
}

fn rate_limited_error(why: &str, retry_after_ms: u64) -> CallError {
    CallError::RateLimited { reason: why.to_owned(), retry_after_ms }
}

/// A position in the queue, given up when it is dropped.
struct QueuedCall<'a> {
    gate: &'a Arc<RateGate>,
    ticket: u64,
    wake_up: Arc<Notify>,
}

impl QueuedCall<'_> {
    fn enqueue(mut self, state: &mut RateGateState) -> Self {
        self.ticket = state.enqueue(Arc::clone(&self.wake_up));
        self
    }
}

impl Drop for QueuedCall<'_> {
    fn drop(&mut self) {
        let mut state = self.gate.lock_state();
        state.dequeue(self.ticket);
        state.wake_first();
    }
}
