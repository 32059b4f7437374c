//! Kills a process while another, which found the lane busy, watches what it does: the one who
//! watches must see that nobody is left, and go on.

use std::time::Duration;

use anyhow::Result;
use rustix::process::Signal;

use crate::child::{Child, Ended};
use crate::order::Order;
use crate::strike::{Fate, ended};
use crate::trial::Trial;

impl Trial<'_> {
    pub(crate) fn watched(&mut self, order: Order, after: Duration) -> Result<Fate> {
        let campaign = self.campaign;
        let Some(permit) = campaign.budget.reserve() else { return self.undisturbed(order) };
        let mut driver = self.start(order, None)?;
        let early = driver.wait(after / 2)?;
        let mut watcher = self.start(Order::Resume, None)?;
        let fate = match early {
            Some(ended) => ended,
            None => kill_after(&mut driver, order, after / 2)?,
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
}

fn kill_after(driver: &mut Child<'_>, order: Order, after: Duration) -> Result<Ended> {
    if let Some(ended) = driver.wait(after)? {
        return Ok(ended);
    }
    driver.signal(Signal::KILL)?;
    ended(driver, order)
}
