//! The observation log: everything that happened in a world, as seen from outside: effects,
//! requests, claims, commands, what readers read. The checker reads this and the store, never the
//! runtime's own state.

mod effect;
mod reading;

pub(crate) use effect::{EffectId, ExecutionEnd, ExecutionTruth, ToolExecution};
pub(crate) use reading::{ObservedSubscription, OwnerEnd};

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use windlass_core::log::ids::{Epoch, InboxMessageId, LaneId, Seq};
use windlass_core::message::request::ModelRequest;

/// A process, numbered in the order of their starts.
pub(crate) type ProcessId = u32;

/// A position in the order of everything that happened.
pub(crate) type ObservationTick = u64;

#[derive(Default)]
pub(crate) struct ObservationLog {
    seen: Mutex<Observations>,
}

/// What was observed.
#[derive(Default)]
pub(crate) struct Observations {
    tick: ObservationTick,
    pub(crate) effects: Vec<ToolExecution>,
    pub(crate) requests: Vec<SeenRequest>,
    pub(crate) claims: Vec<SeenClaim>,
    pub(crate) mail: BTreeMap<LaneId, Vec<InboxMessageId>>,
    pub(crate) readings: Vec<ObservedSubscription>,
    pub(crate) owners: Vec<OwnerEnd>,
    pub(crate) power_cuts: Vec<PowerCut>,
    pub(crate) deaths: BTreeMap<ProcessId, ObservationTick>,
    pub(crate) crashes: u64,
    /// The faults that really happened, as text.
    pub(crate) faults: Vec<String>,
}

/// A request as the model received it.
pub(crate) struct SeenRequest {
    pub(crate) tick: ObservationTick,
    pub(crate) lane: Option<LaneId>,
    pub(crate) request: ModelRequest,
}

/// A claimed lane.
#[derive(Debug, Clone)]
pub(crate) struct SeenClaim {
    pub(crate) tick: ObservationTick,
    pub(crate) lane: LaneId,
    pub(crate) epoch: Epoch,
    pub(crate) process: ProcessId,
}

/// A power cut, and what each lane had left.
pub(crate) struct PowerCut {
    pub(crate) tick: ObservationTick,
    pub(crate) heads: BTreeMap<LaneId, Seq>,
}

impl ObservationLog {
    pub(crate) fn seen(&self) -> MutexGuard<'_, Observations> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take(&self) -> Observations {
        std::mem::take(&mut *self.seen())
    }

    pub(crate) fn fault(&self, at_ms: u64, what: &str) {
        self.seen().faults.push(format!("{at_ms:>6} ms  {what}"));
    }

    pub(crate) fn request(&self, lane: Option<LaneId>, request: ModelRequest) {
        let mut seen = self.seen();
        let tick = seen.tick();
        seen.requests.push(SeenRequest { tick, lane, request });
    }

    pub(crate) fn claim(&self, lane: &LaneId, epoch: Epoch, process: ProcessId) {
        let mut seen = self.seen();
        let tick = seen.tick();
        seen.claims.push(SeenClaim { tick, lane: lane.clone(), epoch, process });
    }

    pub(crate) fn record_command(&self, lane: &LaneId, mail: InboxMessageId) {
        self.seen().mail.entry(lane.clone()).or_default().push(mail);
    }

    /// A process ended: its effects in flight ended with it.
    pub(crate) fn death(&self, process: ProcessId) {
        let mut seen = self.seen();
        let tick = seen.tick();
        seen.deaths.entry(process).or_insert(tick);
        seen.crashes += 1;
        for effect in seen.effects.iter_mut().filter(|effect| effect.process == process) {
            effect.end(tick, ExecutionEnd::Dropped);
        }
    }

    pub(crate) fn power_cut(&self, heads: BTreeMap<LaneId, Seq>) {
        let mut seen = self.seen();
        let tick = seen.tick();
        seen.power_cuts.push(PowerCut { tick, heads });
    }

    /// Returns the process that claimed the lane last.
    pub(crate) fn holder(&self, lane: &LaneId) -> Option<ProcessId> {
        self.seen().claims.iter().rev().find(|claim| claim.lane == *lane).map(|claim| claim.process)
    }
}

impl Observations {
    fn tick(&mut self) -> ObservationTick {
        self.tick += 1;
        self.tick
    }

    /// Returns when the process lost the lane to another; `None` if it still holds it.
    pub(crate) fn lost_lane_at(
        &self,
        lane: &LaneId,
        process: ProcessId,
        after: ObservationTick,
    ) -> Option<ObservationTick> {
        let others = |claim: &&SeenClaim| claim.lane == *lane && claim.process != process;
        self.claims.iter().filter(others).map(|claim| claim.tick).find(|tick| *tick > after)
    }
}
