//! Freezes a process past its lease, lets another take its lane, and wakes the first: it must run
//! into the fence, whatever it was about to do.

use std::time::Duration;

use anyhow::Result;
use rustix::process::Signal;

use crate::child::Child;
use crate::clock::{Deadline, pause};
use crate::nemesis::Thaw;
use crate::order::{LEASE_MS, Order};
use crate::strike::{Fate, ended};
use crate::trial::Trial;

/// How long a takeover may take. A process that was frozen with the database's lock in hand keeps
/// everybody out, so nobody waits for ever.
const TAKEOVER: Duration = Duration::from_millis(LEASE_MS + 1_200);

/// How long the one who took over is left alone with the lane.
const ALONE: Duration = Duration::from_secs(2);

/// Between two looks at the lane.
const LOOK: Duration = Duration::from_millis(4);

/// What happened while a process was frozen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meanwhile {
    TakenOver,
    Nothing,
}

impl Trial<'_> {
    pub(crate) fn freeze(&mut self, order: Order, after: Duration, thaw: Thaw) -> Result<Fate> {
        let mut frozen = self.start(order, None)?;
        if let Some(ended) = frozen.wait(after)? {
            return Ok(Fate::Ended(ended));
        }
        frozen.signal(Signal::STOP)?;
        self.blows.frozen += 1;
        self.note("frozen");
        let before = self.epoch();
        let mut successor = self.start(Order::Resume, None)?;
        if self.watch_takeover(before, &mut successor)? == Meanwhile::TakenOver {
            self.blows.taken_over += 1;
            if thaw == Thaw::AfterSuccessor {
                successor.wait(ALONE)?;
            }
        }
        self.note("thawed");
        frozen.signal(Signal::CONT)?;
        ended(&mut frozen, order)?;
        ended(&mut successor, Order::Resume)?;
        Ok(Fate::Struck)
    }

    fn watch_takeover(&self, before: i64, successor: &mut Child<'_>) -> Result<Meanwhile> {
        let deadline = Deadline::after(TAKEOVER);
        while !deadline.has_passed() {
            let has_ended = successor.wait(LOOK)?.is_some();
            if self.epoch() > before {
                return Ok(Meanwhile::TakenOver);
            }
            if has_ended {
                return Ok(Meanwhile::Nothing);
            }
            pause(LOOK);
        }
        Ok(Meanwhile::Nothing)
    }

    /// The lane's epoch; 0 if there is none, or if nobody can say while the lock is held.
    pub(crate) fn epoch(&self) -> i64 {
        self.place.store.epoch(&self.plan.conversation).unwrap_or(0)
    }
}
