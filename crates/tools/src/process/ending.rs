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

    /// A program may take a second signal for impatience, so nobody is told twice. What appears after
    /// a polite signal was started by somebody who is cleaning up, and is left alone until the time
    /// is up.
    fn tell(&self, signal: Signal, told: &mut BTreeSet<i32>) {
        let is_first = told.is_empty();
        if is_first {
            self.guard.signal(signal);
        }
        for pid in &self.left {
            let is_new = told.insert(pid.as_raw_nonzero().get());
            if is_new && (is_first || signal == Signal::KILL) {
                // One that is gone by now is what was wanted.
                kill_process(*pid, signal).unwrap_or_default();
            }
        }
    }
}
