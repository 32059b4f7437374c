//! Lets one process suffer one blow.

use std::time::Duration;

use anyhow::{Result, bail};
use rustix::process::Signal;

use crate::child::{Child, Ended};
use crate::nemesis::{Blow, Boundary};
use crate::order::Order;
use crate::processes;
use crate::script::Stumble;
use crate::trial::Trial;

/// No process of ours needs so long, however busy the machine is.
pub(crate) const HUNG: Duration = Duration::from_secs(30);

/// What became of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Somebody interfered.
    Struck,
    /// It ended by itself.
    Ended(Ended),
}

impl<'c> Trial<'c> {
    /// Runs a process for `order`, under a blow if one is due.
    pub(crate) fn perform(&mut self, order: Order) -> Result<Fate> {
        let Some(blow) = self.next_blow(order) else { return self.undisturbed(order) };
        match blow {
            Blow::Instant { after_ms } => self.at_instant(order, Duration::from_millis(after_ms)),
            Blow::Boundary(boundary) => self.at_boundary(order, boundary),
            Blow::Freeze { after_ms, thaw } => {
                self.freeze(order, Duration::from_millis(after_ms), thaw)
            }
            Blow::Watched { after_ms } => self.watched(order, Duration::from_millis(after_ms)),
        }
    }

    fn next_blow(&mut self, order: Order) -> Option<Blow> {
        if self.campaign.budget.is_empty() {
            return None;
        }
        self.blows_left = self.blows_left.checked_sub(1)?;
        Some(self.campaign.nemesis.blow(order, &self.plan, &mut self.dice))
    }

    /// Runs a process to its own end.
    pub(crate) fn undisturbed(&mut self, order: Order) -> Result<Fate> {
        let mut child = self.start(order, None)?;
        ended(&mut child, order).map(Fate::Ended)
    }

    fn at_instant(&mut self, order: Order, after: Duration) -> Result<Fate> {
        let campaign = self.campaign;
        let Some(permit) = campaign.budget.reserve() else { return self.undisturbed(order) };
        let mut child = self.start(order, None)?;
        if let Some(ended) = child.wait(after)? {
            return Ok(Fate::Ended(ended));
        }
        child.signal(Signal::KILL)?;
        match ended(&mut child, order)? {
            Ended::Died(_) => {
                permit.spend();
                self.blows.instants += 1;
                self.after_death(order);
                Ok(Fate::Struck)
            }
            // It was faster than the signal.
            ended @ (Ended::Well | Ended::Badly) => Ok(Fate::Ended(ended)),
        }
    }

    fn at_boundary(&mut self, order: Order, boundary: Boundary) -> Result<Fate> {
        let campaign = self.campaign;
        let Some(permit) = campaign.budget.reserve() else { return self.undisturbed(order) };
        let mut child = self.start(order, Some(boundary))?;
        match ended(&mut child, order)? {
            Ended::Died(_) => {
                permit.spend();
                campaign.nemesis.died_at(boundary);
                self.blows.boundaries += 1;
                self.after_death(order);
                Ok(Fate::Struck)
            }
            // It never came so far.
            ended @ (Ended::Well | Ended::Badly) => Ok(Fate::Ended(ended)),
        }
    }

    /// A process leaves its tools behind. Half of the time they die with it, as when the machine
    /// goes down; otherwise they finish what they do while others already look.
    pub(crate) fn after_death(&mut self, order: Order) {
        self.blows.in_recovery += u64::from(order != Order::Send);
        if self.dice.happens(50) {
            processes::end_all_under(&self.place.folder);
        }
    }

    /// Starts a process for `order`, which is to die at `boundary` if one is given.
    pub(crate) fn start(&mut self, order: Order, boundary: Option<Boundary>) -> Result<Child<'c>> {
        let stumble = Stumble::draw(&self.plan, &mut self.dice);
        let binary = &self.campaign.binary;
        let mut invocation = binary.invocation(order, &self.plan, &self.place, stumble)?;
        if let Some(Boundary { point, hit }) = boundary {
            invocation.variables.push(("WINDLASS_FAULT", format!("{point}:{hit}")));
        }
        self.note(&format!("{order:?} {boundary:?}"));
        Child::start(self.campaign.brood, &invocation)
    }
}

/// Waits for the end of a process that has no reason not to end.
pub(crate) fn ended(child: &mut Child<'_>, order: Order) -> Result<Ended> {
    match child.wait(HUNG)? {
        Some(ended) => Ok(ended),
        None => bail!("a process for {order:?} hangs since {} s", HUNG.as_secs()),
    }
}
