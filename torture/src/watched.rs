//! Kills a process while another, which found the lane busy, watches what it does: the one who
//! watches must see that nobody is left, and go on.

use std::time::Duration;

use anyhow::Result;
use rustix::process::Signal;

use crate::child::{Child, Ended};
use crate::clock::Deadline;
use crate::fault::Fault;
use crate::log::Standing;
use crate::order::Order;
use crate::strike::{Fate, ended};
use crate::trial::Trial;

/// Between two looks at the lane.
const LOOK: Duration = Duration::from_millis(4);

impl Trial<'_> {
    pub(crate) fn watched(&mut self, order: Order, after: Duration) -> Result<Fate> {
        let campaign = self.campaign;
        let Some(permit) = campaign.budget.reserve() else { return self.undisturbed(order) };
        let nobodys = self.epoch();
        let mut driver = self.start(order, None)?;
        let early = driver.wait(after / 2)?;
        let before = self.epoch();
        // Nobody who comes from here on can lawfully have the lane before this has passed.
        let meeting = Deadline::after(Duration::from_millis(campaign.binary.lease_ms()).min(after));
        let mut watcher = self.start(Order::Resume, None)?;
        let fate = match early {
            Some(ended) => ended,
            None => {
                // Only what the driver has taken can be taken from it.
                if before == nobodys + 1 {
                    self.watch_over(&mut driver, before, meeting)?;
                }
                kill_after(&mut driver, order, after / 2)?
            }
        };
        if matches!(fate, Ended::Died(_)) {
            permit.spend();
            self.blows.watched += 1;
            self.blows.in_recovery += u64::from(order != Order::Send);
            self.note("the driver was killed");
        }
        ended(&mut watcher, Order::Resume)?;
        Ok(Fate::Struck)
    }

    /// A watcher must see a living driver stand still for a whole lease. If the lane changes hands
    /// sooner, in the middle of a run, and the driver is alive, then it was robbed.
    fn watch_over(&mut self, driver: &mut Child<'_>, before: i64, meeting: Deadline) -> Result<()> {
        while !meeting.has_passed() {
            let taken = self.epoch() > before && !meeting.has_passed();
            if driver.wait(LOOK)?.is_some() {
                return Ok(());
            }
            if taken && self.was_open_in(before)? {
                let what = format!("a living owner lost its lane in epoch {before}");
                self.faults.push(Fault::needless(what));
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether the run was under way when that epoch ended. An owner gives back what it parked.
    fn was_open_in(&self, epoch: i64) -> Result<bool> {
        let Some(mut lane) = self.lane()? else { return Ok(false) };
        lane.entries.retain(|row| row.epoch <= epoch);
        // What came later says nothing about then.
        lane.waiting_mail = 0;
        Ok(!lane.entries.is_empty() && lane.standing() == Standing::Open)
    }
}

fn kill_after(driver: &mut Child<'_>, order: Order, after: Duration) -> Result<Ended> {
    if let Some(ended) = driver.wait(after)? {
        return Ok(ended);
    }
    driver.signal(Signal::KILL)?;
    ended(driver, order)
}
