//! Kills a process while another follows the busy lane: the follower must notice and take over.

use std::time::Duration;

use anyhow::Result;
use rustix::process::Signal;

use crate::apply_fault::{ProcessResult, wait_for_end};
use crate::binary_command::BinaryCommand;
use crate::child::{ChildProcess, ProcessEnd};
use crate::clock::Deadline;
use crate::conversation_trial::ConversationTrial;
use crate::log_reader::LaneProgress;
use crate::violation::Violation;

/// Time between two polls of the lane.
const POLL_INTERVAL: Duration = Duration::from_millis(4);

impl ConversationTrial<'_> {
    pub(crate) fn kill_while_watched(
        &mut self,
        order: BinaryCommand,
        after: Duration,
    ) -> Result<ProcessResult> {
        let campaign = self.campaign;
        let Some(permit) = campaign.budget.reserve() else { return self.run_undisturbed(order) };
        let nobodys = self.read_epoch();
        let mut driver = self.start_process(order, None)?;
        let early = driver.wait(after / 2)?;
        let before = self.read_epoch();
        // No other process can lawfully own the lane before this time.
        let meeting = Deadline::after(Duration::from_millis(campaign.binary.lease_ms()).min(after));
        let mut watcher = self.start_process(BinaryCommand::Resume, None)?;
        let fate = match early {
            Some(ended) => ended,
            None => {
                // The check applies only if the driver has claimed the lane.
                if before == nobodys + 1 {
                    self.check_takeover(&mut driver, before, meeting)?;
                }
                kill_after(&mut driver, order, after / 2)?
            }
        };
        if matches!(fate, ProcessEnd::Killed(_)) {
            permit.mark_killed();
            self.blows.watched += 1;
            self.blows.in_recovery += u64::from(order != BinaryCommand::Send);
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
        meeting: Deadline,
    ) -> Result<()> {
        while !meeting.has_passed() {
            let taken = self.read_epoch() > before && !meeting.has_passed();
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
    order: BinaryCommand,
    after: Duration,
) -> Result<ProcessEnd> {
    if let Some(ended) = driver.wait(after)? {
        return Ok(ended);
    }
    driver.signal(Signal::KILL)?;
    wait_for_end(driver, order)
}
