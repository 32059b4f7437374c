//! Applies one fault to one process.

use std::time::Duration;

use anyhow::{Result, bail};
use rustix::process::Signal;

use crate::binary_command::BinaryCommand;
use crate::child::{ChildProcess, ProcessEnd};
use crate::conversation_trial::ConversationTrial;
use crate::fault_injector::{ProcessFault, WriteBoundary};
use crate::process_table;
use crate::script::TransientFailure;

/// A process that runs longer hangs, however busy the machine is.
pub(crate) const HANG_TIMEOUT: Duration = Duration::from_secs(30);

/// The result of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessResult {
    /// A fault was applied.
    Interrupted,
    /// The process ended by itself.
    Ended(ProcessEnd),
}

impl<'c> ConversationTrial<'c> {
    /// Runs a process for `order`, with a fault if one is due.
    pub(crate) fn run_with_fault(&mut self, order: BinaryCommand) -> Result<ProcessResult> {
        let Some(blow) = self.next_fault(order) else { return self.run_undisturbed(order) };
        match blow {
            ProcessFault::Instant { after_ms } => {
                self.kill_at_instant(order, Duration::from_millis(after_ms))
            }
            ProcessFault::Boundary(boundary) => self.die_at_boundary(order, boundary),
            ProcessFault::Freeze { after_ms, thaw } => {
                self.freeze_and_take_over(order, Duration::from_millis(after_ms), thaw)
            }
            ProcessFault::Watched { after_ms } => {
                self.kill_while_watched(order, Duration::from_millis(after_ms))
            }
        }
    }

    fn next_fault(&mut self, order: BinaryCommand) -> Option<ProcessFault> {
        if self.campaign.budget.is_empty() {
            return None;
        }
        self.blows_left = self.blows_left.checked_sub(1)?;
        Some(self.campaign.fault_injector.next_fault(order, &self.plan, &mut self.dice))
    }

    /// Runs a process to its own end.
    pub(crate) fn run_undisturbed(&mut self, order: BinaryCommand) -> Result<ProcessResult> {
        let mut child = self.start_process(order, None)?;
        wait_for_end(&mut child, order).map(ProcessResult::Ended)
    }

    fn kill_at_instant(&mut self, order: BinaryCommand, after: Duration) -> Result<ProcessResult> {
        let campaign = self.campaign;
        let Some(permit) = campaign.budget.reserve() else { return self.run_undisturbed(order) };
        let mut child = self.start_process(order, None)?;
        if let Some(ended) = child.wait(after)? {
            return Ok(ProcessResult::Ended(ended));
        }
        child.signal(Signal::KILL)?;
        match wait_for_end(&mut child, order)? {
            ProcessEnd::Killed(_) => {
                permit.mark_killed();
                self.blows.instants += 1;
                self.handle_orphaned_tools(order);
                Ok(ProcessResult::Interrupted)
            }
            // The process ended before the signal.
            ended @ (ProcessEnd::Success | ProcessEnd::Failure) => Ok(ProcessResult::Ended(ended)),
        }
    }

    fn die_at_boundary(
        &mut self,
        order: BinaryCommand,
        boundary: WriteBoundary,
    ) -> Result<ProcessResult> {
        let campaign = self.campaign;
        let Some(permit) = campaign.budget.reserve() else { return self.run_undisturbed(order) };
        let mut child = self.start_process(order, Some(boundary))?;
        match wait_for_end(&mut child, order)? {
            ProcessEnd::Killed(_) => {
                permit.mark_killed();
                campaign.fault_injector.record_death(boundary);
                self.blows.boundaries += 1;
                self.handle_orphaned_tools(order);
                Ok(ProcessResult::Interrupted)
            }
            // The process ended before it reached the boundary.
            ended @ (ProcessEnd::Success | ProcessEnd::Failure) => Ok(ProcessResult::Ended(ended)),
        }
    }

    /// Handles the tools that a killed process leaves running. Half of the time they are killed
    /// with it, as if the machine had crashed; otherwise they finish while other processes already
    /// inspect the lane.
    pub(crate) fn handle_orphaned_tools(&mut self, order: BinaryCommand) {
        self.blows.in_recovery += u64::from(order != BinaryCommand::Send);
        if self.dice.chance(50) {
            process_table::kill_all_under(&self.place.folder);
        }
    }

    /// Starts a process for `order`, which dies at `boundary` if one is given.
    pub(crate) fn start_process(
        &mut self,
        order: BinaryCommand,
        boundary: Option<WriteBoundary>,
    ) -> Result<ChildProcess<'c>> {
        let stumble = TransientFailure::generate(&self.plan, &mut self.dice);
        let binary = &self.campaign.binary;
        let mut invocation = binary.to_process_spec(order, &self.plan, &self.place, stumble)?;
        if let Some(WriteBoundary { point, hit }) = boundary {
            invocation.variables.push(("WINDLASS_FAULT", format!("{point}:{hit}")));
        }
        self.write_note(&format!("{order:?} {boundary:?}"));
        ChildProcess::start(self.campaign.brood, &invocation)
    }
}

/// Waits for the end of a process that should end by itself.
pub(crate) fn wait_for_end(
    child: &mut ChildProcess<'_>,
    order: BinaryCommand,
) -> Result<ProcessEnd> {
    match child.wait(HANG_TIMEOUT)? {
        Some(ended) => Ok(ended),
        None => bail!("a process for {order:?} hangs since {} s", HANG_TIMEOUT.as_secs()),
    }
}
