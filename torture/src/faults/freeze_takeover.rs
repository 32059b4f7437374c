//! Freezes a process past its lease, lets another take over its lane, then thaws it: its writes
//! must be fenced off, whatever it was about to do.

use std::time::Duration;

use anyhow::Result;
use rustix::process::Signal;

use crate::conversation_trial::ConversationTrial;
use crate::faults::apply_fault::{ProcessResult, wait_for_end};
use crate::faults::fault_injector::ThawMoment;
use crate::plan::binary_command::{BinaryCommand, LEASE_MS};
use crate::process::child::ChildProcess;
use crate::process::clock::{Deadline, pause};

/// Time limit of a takeover. A process that was frozen while it held the database's lock blocks all
/// others, so the wait is bounded.
const TAKEOVER_TIMEOUT: Duration = Duration::from_millis(LEASE_MS + 1_200);

/// How long the process that took over runs undisturbed.
const SUCCESSOR_TIME: Duration = Duration::from_secs(2);

/// Time between two polls of the lane.
const POLL_INTERVAL: Duration = Duration::from_millis(4);

/// Whether the lane was taken over while its process was frozen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TakeoverResult {
    TakenOver,
    NoTakeover,
}

impl ConversationTrial<'_> {
    pub(crate) fn freeze_and_take_over(
        &mut self,
        command: BinaryCommand,
        after: Duration,
        thaw: ThawMoment,
    ) -> Result<ProcessResult> {
        let mut frozen = self.start_process(command, None)?;
        if let Some(ended) = frozen.wait(after)? {
            return Ok(ProcessResult::Ended(ended));
        }
        frozen.signal(Signal::STOP)?;
        self.fault_counts.frozen += 1;
        self.write_note("frozen");
        let before = self.read_epoch();
        let mut successor = self.start_process(BinaryCommand::Resume, None)?;
        if self.watch_takeover(before, &mut successor)? == TakeoverResult::TakenOver {
            self.fault_counts.taken_over += 1;
            if thaw == ThawMoment::AfterSuccessor {
                successor.wait(SUCCESSOR_TIME)?;
            }
        }
        self.write_note("thawed");
        frozen.signal(Signal::CONT)?;
        wait_for_end(&mut frozen, command)?;
        wait_for_end(&mut successor, BinaryCommand::Resume)?;
        Ok(ProcessResult::Interrupted)
    }

    fn watch_takeover(
        &self,
        before: i64,
        successor: &mut ChildProcess<'_>,
    ) -> Result<TakeoverResult> {
        let deadline = Deadline::after(TAKEOVER_TIMEOUT);
        while !deadline.has_passed() {
            let has_ended = successor.wait(POLL_INTERVAL)?.is_some();
            if self.read_epoch() > before {
                return Ok(TakeoverResult::TakenOver);
            }
            if has_ended {
                return Ok(TakeoverResult::NoTakeover);
            }
            pause(POLL_INTERVAL);
        }
        Ok(TakeoverResult::NoTakeover)
    }

    /// The lane's epoch; 0 if there is none, or if it cannot be read while the lock is held.
    pub(crate) fn read_epoch(&self) -> i64 {
        self.place.store.read_epoch(&self.plan.conversation).unwrap_or(0)
    }
}
