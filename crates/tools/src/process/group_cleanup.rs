//! Ends a process group: SIGTERM, grace period, SIGKILL.

use std::collections::BTreeSet;

use rustix::process::{Pid, Signal, kill_process};
use windlass_runtime::ports::Clock;

use super::process_guard::ProcessGuard;
use super::{CleanupResult, group_processes};
use crate::limits::{KILL_WAIT_MS, PROCESS_POLL_MS, TERMINATION_GRACE_MS};

/// Ends all processes of the guard's group, and the guard. An empty group costs one check. The
/// helpers of a launcher are in the group and end with the guard.
pub(super) async fn end_group(
    guard: &mut ProcessGuard,
    helpers: &[i32],
    clock: &dyn Clock,
) -> CleanupResult {
    let found = group_processes::find_in_group(guard.group(), helpers).await;
    let mut sweep = GroupCleanup { guard, helpers, clock, remaining: found.clone() };
    sweep.signal_until_gone(Signal::TERM, TERMINATION_GRACE_MS).await;
    sweep.signal_until_gone(Signal::KILL, KILL_WAIT_MS).await;
    let leaked = sweep.remaining.len();
    guard.dismiss().await;
    CleanupResult { found: found.len(), leaked }
}

struct GroupCleanup<'a> {
    guard: &'a ProcessGuard,
    helpers: &'a [i32],
    clock: &'a dyn Clock,
    remaining: Vec<Pid>,
}

impl GroupCleanup<'_> {
    /// Sends `signal` to every remaining process, once each, until none is left or the time is up.
    async fn signal_until_gone(&mut self, signal: Signal, patience_ms: u64) {
        let until = self.clock.monotonic_ms().saturating_add(patience_ms);
        let mut told = BTreeSet::new();
        while !self.remaining.is_empty() && self.clock.monotonic_ms() < until {
            self.signal_remaining(signal, &mut told);
            self.clock.sleep(PROCESS_POLL_MS).await;
            self.remaining = group_processes::find_in_group(self.guard.group(), self.helpers).await;
        }
    }

    /// Signals each process once, because a program may treat a second signal as urgent. Processes
    /// that appear after SIGTERM are cleaning up and are left alone until the grace period ends.
    fn signal_remaining(&self, signal: Signal, told: &mut BTreeSet<i32>) {
        let is_first = told.is_empty();
        if is_first {
            self.guard.send_signal(signal);
        }
        for pid in &self.remaining {
            let is_new = told.insert(pid.as_raw_nonzero().get());
            if is_new && (is_first || signal == Signal::KILL) {
                // A process that has ended by now is fine.
                kill_process(*pid, signal).unwrap_or_default();
            }
        }
    }
}
