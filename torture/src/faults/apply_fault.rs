//! Applies one fault to one process.

use std::time::Duration;

use anyhow::{Result, bail};
use rustix::process::Signal;

use crate::conversation_trial::ConversationTrial;
use crate::faults::fault_injector::{ProcessFault, WriteBoundary};
use crate::plan::binary_command::BinaryCommand;
use crate::plan::script::TransientFailure;
use crate::process::child::{ChildProcess, ProcessEnd};
use crate::process::process_table;

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
    /// Runs a process for `command`, with a fault if one is due.
    pub(crate) fn run_with_fault(&mut self, command: BinaryCommand) -> Result<ProcessResult> {
        let Some(fault) = self.next_fault(command) else { return self.run_undisturbed(command) };
        match fault {
            ProcessFault::Instant { after_ms } => {
                self.kill_at_instant(command, Duration::from_millis(after_ms))
            }
            ProcessFault::Boundary(boundary) => self.die_at_boundary(command, boundary),
            ProcessFault::Freeze { after_ms, thaw } => {
                self.freeze_and_take_over(command, Duration::from_millis(after_ms), thaw)
            }
            ProcessFault::Watched { after_ms } => {
                self.kill_while_watched(command, Duration::from_millis(after_ms))
            }
        }
    }

    fn next_fault(&mut self, command: BinaryCommand) -> Option<ProcessFault> {
        if self.campaign.budget.is_empty() {
            return None;
        }
        self.faults_left = self.faults_left.checked_sub(1)?;
        Some(self.campaign.fault_injector.next_fault(command, &self.plan, &mut self.random))
    }

    /// Runs a process to its own end.
    pub(crate) fn run_undisturbed(&mut self, command: BinaryCommand) -> Result<ProcessResult> {
        let mut child = self.start_process(command, None)?;
        wait_for_end(&mut child, command).map(ProcessResult::Ended)
    }

    fn kill_at_instant(
        &mut self,
        command: BinaryCommand,
        after: Duration,
    ) -> Result<ProcessResult> {
        let campaign = self.campaign;
        let Some(permit) = campaign.budget.reserve() else { return self.run_undisturbed(command) };
        let mut child = self.start_process(command, None)?;
        if let Some(ended) = child.wait(after)? {
            return Ok(ProcessResult::Ended(ended));
        }
        child.signal(Signal::KILL)?;
        match wait_for_end(&mut child, command)? {
            ProcessEnd::Killed(_) => {
                permit.mark_killed();
                self.fault_counts.instants += 1;
                self.handle_orphaned_tools(command);
                Ok(ProcessResult::Interrupted)
            }
            // The process ended before the signal.
            ended @ (ProcessEnd::Success | ProcessEnd::Failure) => Ok(ProcessResult::Ended(ended)),
        }
    }

    fn die_at_boundary(
        &mut self,
        command: BinaryCommand,
        boundary: WriteBoundary,
    ) -> Result<ProcessResult> {
        let campaign = self.campaign;
        let Some(permit) = campaign.budget.reserve() else { return self.run_undisturbed(command) };
        let mut child = self.start_process(command, Some(boundary))?;
        match wait_for_end(&mut child, command)? {
            ProcessEnd::Killed(_) => {
                permit.mark_killed();
                campaign.fault_injector.record_death(boundary);
                self.fault_counts.boundaries += 1;
                self.handle_orphaned_tools(command);
                Ok(ProcessResult::Interrupted)
            }
            // The process ended before it reached the boundary.
            ended @ (ProcessEnd::Success | ProcessEnd::Failure) => Ok(ProcessResult::Ended(ended)),
        }
    }

    /// Handles the tools that a killed process leaves running. Half of the time they are killed
    /// with it, as if the machine had crashed; otherwise they finish while other processes already
    /// inspect the lane.
    pub(crate) fn handle_orphaned_tools(&mut self, command: BinaryCommand) {
        self.fault_counts.in_recovery += u64::from(command != BinaryCommand::Send);
        if self.random.chance(50) {
            process_table::kill_all_under(&self.place.folder);
        }
    }

    /// Starts a process for `command`, which dies at `boundary` if one is given.
    pub(crate) fn start_process(
        &mut self,
        command: BinaryCommand,
        boundary: Option<WriteBoundary>,
    ) -> Result<ChildProcess<'c>> {
        let stumble = TransientFailure::generate(&self.plan, &mut self.random);
        let binary = &self.campaign.binary;
        let mut invocation = binary.to_process_spec(command, &self.plan, &self.place, stumble)?;
        if let Some(WriteBoundary { point, hit }) = boundary {
            invocation.variables.push(("WINDLASS_FAULT", format!("{point}:{hit}")));
        }
        self.write_note(&format!("{command:?} {boundary:?}"));
        ChildProcess::start(self.campaign.registry, &invocation)
    }
}

/// Waits for the end of a process that should end by itself.
pub(crate) fn wait_for_end(
    child: &mut ChildProcess<'_>,
    command: BinaryCommand,
) -> Result<ProcessEnd> {
    match child.wait(HANG_TIMEOUT)? {
        Some(ended) => Ok(ended),
        None => {
            bail!("a process for {command:?} has been hanging for {} s", HANG_TIMEOUT.as_secs())
        }
    }
}
