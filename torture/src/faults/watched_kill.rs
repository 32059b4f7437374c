//! Kills a process while another follows the busy lane: the follower must notice and take over.

use std::time::Duration;

use anyhow::Result;
use rustix::process::Signal;

use crate::conversation_trial::ConversationTrial;
use crate::faults::apply_fault::{ProcessResult, wait_for_end};
use crate::observe::log_reader::LaneProgress;
use crate::observe::violation::Violation;
use crate::plan::binary_command::BinaryCommand;
use crate::process::child::{ChildProcess, ProcessEnd};
use crate::process::clock::Deadline;

/// Time between two polls of the lane.
const POLL_INTERVAL: Duration = Duration::from_millis(4);

impl ConversationTrial<'_> {
    pub(crate) fn kill_while_watched(
        &mut self,
        command: BinaryCommand,
        after: Duration,
    ) -> Result<ProcessResult> {
        let campaign = self.campaign;
        let Some(permit) = campaign.budget.reserve() else { return self.run_undisturbed(command) };
        let unclaimed_epoch = self.read_epoch();
        let mut driver = self.start_process(command, None)?;
        let early = driver.wait(after / 2)?;
        let before = self.read_epoch();
        // No other process can lawfully own the lane before this time.
        let earliest_takeover =
            Deadline::after(Duration::from_millis(campaign.binary.lease_ms()).min(after));
        let mut watcher = self.start_process(BinaryCommand::Resume, None)?;
        let process_end = match early {
            Some(ended) => ended,
            None => {
                // The check applies only if the driver has claimed the lane.
                if before == unclaimed_epoch + 1 {
                    self.check_takeover(&mut driver, before, earliest_takeover)?;
                }
                kill_after(&mut driver, command, after / 2)?
            }
        };
        if matches!(process_end, ProcessEnd::Killed(_)) {
            permit.mark_killed();
            self.fault_counts.watched += 1;
            self.fault_counts.in_recovery += u64::from(command != BinaryCommand::Send);
            self.write_note("the driver was killed");
        }
        wait_for_end(&mut watcher, BinaryCommand::Resume)?;
        Ok(ProcessResult::Interrupted)
    }

    /// Checks that a takeover was lawful: the follower must see a live driver without progress for
    /// a whole lease. If the lane changes its owner sooner, in the middle of a run, and the driver
    /// is alive, its lease was broken.
    fn check_takeover(
        &mut self,
        driver: &mut ChildProcess<'_>,
        before: i64,
        earliest_takeover: Deadline,
    ) -> Result<()> {
        while !earliest_takeover.has_passed() {
            let taken = self.read_epoch() > before && !earliest_takeover.has_passed();
            if driver.wait(POLL_INTERVAL)?.is_some() {
                return Ok(());
            }
            if taken && self.was_run_open(before)? {
                let what = format!("a living owner lost its lane in epoch {before}");
                self.faults.push(Violation::needless_question(what));
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns whether the run was open when that epoch ended. An owner releases a parked lane.
    fn was_run_open(&self, epoch: i64) -> Result<bool> {
        let Some(mut lane) = self.read_lane()? else { return Ok(false) };
        lane.entries.retain(|row| row.epoch <= epoch);
        // Messages that came later say nothing about that time.
        lane.waiting_mail = 0;
        Ok(!lane.entries.is_empty() && lane.lane_progress() == LaneProgress::Open)
    }
}

fn kill_after(
    driver: &mut ChildProcess<'_>,
    command: BinaryCommand,
    after: Duration,
) -> Result<ProcessEnd> {
    if let Some(ended) = driver.wait(after)? {
        return Ok(ended);
    }
    driver.signal(Signal::KILL)?;
    wait_for_end(driver, command)
}
