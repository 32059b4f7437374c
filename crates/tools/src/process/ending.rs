//! Ending what a command left behind: asked first, then made to.

use std::collections::BTreeSet;

use rustix::process::{Pid, Signal, kill_process};
use windlass_runtime::ports::Clock;

use super::guard::Guard;
use super::{Swept, survivors};
use crate::limits::{GRACE_MS, KILL_WAIT_MS, POLL_MS};

/// Ends everything of the guard's group, and the guard. A group that is empty costs one look.
pub(super) async fn end(guard: &mut Guard, clock: &dyn Clock) -> Swept {
    let found = survivors::of(guard.group()).await;
    let mut sweep = Sweep { guard, clock, left: found.clone() };
    sweep.press(Signal::TERM, GRACE_MS).await;
    sweep.press(Signal::KILL, KILL_WAIT_MS).await;
    let leaked = sweep.left.len();
    guard.dismiss().await;
    Swept { found: found.len(), leaked }
}

struct Sweep<'a> {
    guard: &'a Guard,
    clock: &'a dyn Clock,
    left: Vec<Pid>,
}

impl Sweep<'_> {
    /// Sends `signal` to every process left, once each, until none is left or patience ends.
    async fn press(&mut self, signal: Signal, patience_ms: u64) {
        let until = self.clock.monotonic_ms().saturating_add(patience_ms);
        let mut told = BTreeSet::new();
        while !self.left.is_empty() && self.clock.monotonic_ms() < until {
            self.tell(signal, &mut told);
            self.clock.sleep(POLL_MS).await;
            self.left = survivors::of(self.guard.group()).await;
        }
    }

    /// A program may take a second signal for impatience, so nobody is told twice.
    fn tell(&self, signal: Signal, told: &mut BTreeSet<i32>) {
        if told.is_empty() {
            self.guard.signal(signal);
        }
        for pid in &self.left {
            if told.insert(pid.as_raw_nonzero().get()) {
                // One that is gone by now is what was wanted.
                kill_process(*pid, signal).unwrap_or_default();
            }
        }
    }
}
