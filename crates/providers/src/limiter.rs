//! One gate per credential and model, for all conversations of the process.
//!
//! It learns from what the provider says: how many requests and tokens are left, and when to come
//! back. Calls wait in line rather than fail; one that would wait longer than a minute is told how
//! long, so that its run can be parked instead. After an overload calls are let through a few at a
//! time, and more with every success: a thousand runs that wait do not come back at once.

mod headers;
mod state;

#[cfg(test)]
mod state_tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use windlass_runtime::ports::Clock;

use crate::fault::Fault;
use crate::limits::{LIMITER_WAIT_MS, WAITING_CALLS};
use crate::race::first_of;

pub(crate) use headers::Said;
pub(crate) use state::Outcome;
use state::{Answer, State};

/// Gates by credential and model.
pub struct Limiter {
    gates: Mutex<HashMap<Arc<str>, Arc<Gate>>>,
    clock: Arc<dyn Clock>,
}

/// What a gate looks like to whoever watches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateView {
    /// Provider, model and a short hash of the credential.
    pub name: Arc<str>,
    /// Calls under way.
    pub in_flight: usize,
    /// Calls that wait.
    pub waiting: usize,
    /// How many may be under way; nothing means as many as like.
    pub most_in_flight: Option<usize>,
    /// How long nobody is let through.
    pub closed_for_ms: u64,
    /// Requests the provider said are left.
    pub requests_left: Option<u64>,
    /// Input tokens the provider said are left.
    pub tokens_left: Option<u64>,
}

pub(crate) struct Gate {
    state: Mutex<State>,
    clock: Arc<dyn Clock>,
}

impl Limiter {
    /// A limiter that has learned nothing yet.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { gates: Mutex::default(), clock }
    }

    pub(crate) fn gate(&self, name: &Arc<str>) -> Arc<Gate> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = gates.entry(Arc::clone(name)).or_insert_with(|| {
            let (state, clock) = (Mutex::default(), Arc::clone(&self.clock));
            Arc::new(Gate { state, clock })
        });
        Arc::clone(gate)
    }

    /// Every gate, by name.
    #[must_use]
    pub fn view(&self) -> Vec<GateView> {
        let gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        let mut views: Vec<GateView> = gates.iter().map(|(name, gate)| gate.view(name)).collect();
        views.sort_by(|a, b| a.name.cmp(&b.name));
        views
    }
}

impl std::fmt::Debug for Limiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.view()).finish()
    }
}

/// The right to make one call. Dropping it without a word counts as a call that was abandoned.
pub(crate) struct Pass {
    gate: Arc<Gate>,
}

impl Pass {
    /// Tells the gate what the provider said on the way.
    pub(crate) fn heard(&self, said: &Said) {
        let now = self.gate.clock.monotonic_ms();
        self.gate.state().heard(said, now);
    }

    /// Tells the gate how the call went.
    pub(crate) fn outcome(&self, outcome: Outcome) {
        let now = self.gate.clock.monotonic_ms();
        self.gate.state().outcome(outcome, now);
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut state = self.gate.state();
        state.leave();
        state.wake_first();
    }
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn view(&self, name: &Arc<str>) -> GateView {
        let now = self.clock.monotonic_ms();
        self.state().view(Arc::clone(name), now)
    }

    /// Waits in line for a call of about `tokens` input tokens.
    pub(crate) async fn enter(self: &Arc<Self>, tokens: u64) -> Result<Pass, Fault> {
        let arrived = self.clock.monotonic_ms();
        let place = {
            let mut state = self.state();
            if state.waiting() == 0 && matches!(state.admit(tokens, arrived), Answer::Enter) {
                return Ok(Pass { gate: Arc::clone(self) });
            }
            if state.waiting() >= WAITING_CALLS {
                return Err(limited("too many calls wait for this model", LIMITER_WAIT_MS));
            }
            Place { gate: self, number: 0, bell: Arc::default() }.taken(&mut state)
        };
        self.wait(&place, tokens, arrived).await
    }

    async fn wait(
        self: &Arc<Self>,
        place: &Place<'_>,
        tokens: u64,
        arrived: u64,
    ) -> Result<Pass, Fault> {
        loop {
            let now = self.clock.monotonic_ms();
            let patience = LIMITER_WAIT_MS.saturating_sub(now.saturating_sub(arrived));
            let pause = {
                let mut state = self.state();
                match state.admit_first(place.number, tokens, now) {
                    Answer::Enter => return Ok(Pass { gate: Arc::clone(self) }),
                    Answer::In(ms) if ms > patience => {
                        return Err(limited("the provider asked to wait", ms));
                    }
                    Answer::In(ms) => ms,
                    Answer::AfterOthers => patience,
                }
            };
            if patience == 0 {
                return Err(limited("other calls to this model are still under way", 1_000));
            }
            first_of(place.bell.notified(), self.clock.sleep(pause.max(1))).await;
        }
    }
}

fn limited(why: &str, retry_after_ms: u64) -> Fault {
    Fault::Limited { why: why.to_owned(), retry_after_ms }
}

/// A place in line, given up when it is dropped.
struct Place<'a> {
    gate: &'a Arc<Gate>,
    number: u64,
    bell: Arc<Notify>,
}

impl Place<'_> {
    fn taken(mut self, state: &mut State) -> Self {
        self.number = state.line_up(Arc::clone(&self.bell));
        self
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.gate.state();
        state.step_out(self.number);
        state.wake_first();
    }
}
