//! Everything that happened in a world, as somebody outside saw it: effects, requests, claims, mail,
//! what readers read. The checker reads this and the store, never the runtime's own state.

mod effect;
mod reading;

pub(crate) use effect::{Effect, EffectId, Ending, Truth};
pub(crate) use reading::{OwnerEnd, Reading};

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use windlass_core::ids::{Epoch, LaneId, MailId, Seq};
use windlass_core::request::Request;

/// A process, numbered in the order of their starts.
pub(crate) type ProcessId = u32;

/// A place in the order of everything that happened.
pub(crate) type Tick = u64;

#[derive(Default)]
pub(crate) struct Witness {
    seen: Mutex<Seen>,
}

/// What was seen.
#[derive(Default)]
pub(crate) struct Seen {
    tick: Tick,
    pub(crate) effects: Vec<Effect>,
    pub(crate) requests: Vec<SeenRequest>,
    pub(crate) claims: Vec<SeenClaim>,
    pub(crate) mail: BTreeMap<LaneId, Vec<MailId>>,
    pub(crate) readings: Vec<Reading>,
    pub(crate) owners: Vec<OwnerEnd>,
    pub(crate) power_cuts: Vec<PowerCut>,
    pub(crate) deaths: BTreeMap<ProcessId, Tick>,
    pub(crate) crashes: u64,
    /// The faults that really happened, in words.
    pub(crate) faults: Vec<String>,
}

/// A request as the model received it.
pub(crate) struct SeenRequest {
    pub(crate) tick: Tick,
    pub(crate) lane: Option<LaneId>,
    pub(crate) request: Request,
}

/// A lane taken.
#[derive(Debug, Clone)]
pub(crate) struct SeenClaim {
    pub(crate) tick: Tick,
    pub(crate) lane: LaneId,
    pub(crate) epoch: Epoch,
    pub(crate) process: ProcessId,
}

/// The power went, and this is what each lane had left.
pub(crate) struct PowerCut {
    pub(crate) tick: Tick,
    pub(crate) heads: BTreeMap<LaneId, Seq>,
}

impl Witness {
    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take(&self) -> Seen {
        std::mem::take(&mut *self.seen())
    }

    pub(crate) fn fault(&self, at_ms: u64, what: &str) {
        self.seen().faults.push(format!("{at_ms:>6} ms  {what}"));
    }

    pub(crate) fn request(&self, lane: Option<LaneId>, request: Request) {
        let mut seen = self.seen();
        let tick = seen.tick();
        seen.requests.push(SeenRequest { tick, lane, request });
    }

    pub(crate) fn claim(&self, lane: &LaneId, epoch: Epoch, process: ProcessId) {
        let mut seen = self.seen();
        let tick = seen.tick();
        seen.claims.push(SeenClaim { tick, lane: lane.clone(), epoch, process });
    }

    pub(crate) fn mail(&self, lane: &LaneId, mail: MailId) {
        self.seen().mail.entry(lane.clone()).or_default().push(mail);
    }

    /// A process ended: what it had in the air ended with it.
    pub(crate) fn death(&self, process: ProcessId) {
        let mut seen = self.seen();
        let tick = seen.tick();
        seen.deaths.entry(process).or_insert(tick);
        seen.crashes += 1;
        for effect in seen.effects.iter_mut().filter(|effect| effect.process == process) {
            effect.end(tick, Ending::Dropped);
        }
    }

    pub(crate) fn power_cut(&self, heads: BTreeMap<LaneId, Seq>) {
        let mut seen = self.seen();
        let tick = seen.tick();
        seen.power_cuts.push(PowerCut { tick, heads });
    }

    /// Who took the lane last.
    pub(crate) fn holder(&self, lane: &LaneId) -> Option<ProcessId> {
        self.seen().claims.iter().rev().find(|claim| claim.lane == *lane).map(|claim| claim.process)
    }
}

impl Seen {
    fn tick(&mut self) -> Tick {
        self.tick += 1;
        self.tick
    }

    /// When the process lost the lane to another; `None` if it holds it still.
    pub(crate) fn fenced(&self, lane: &LaneId, process: ProcessId, after: Tick) -> Option<Tick> {
        let others = |claim: &&SeenClaim| claim.lane == *lane && claim.process != process;
        self.claims.iter().filter(others).map(|claim| claim.tick).find(|tick| *tick > after)
    }
}
