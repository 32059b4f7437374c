//! Chooses how the next process is to suffer.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use windlass_store::fault::POINTS;

use crate::args::Break;
use crate::dice::Dice;
use crate::order::Order;
use crate::plan::Plan;

/// What happens to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blow {
    /// SIGKILL, so long after its start.
    Instant { after_ms: u64 },
    /// Death at a write boundary.
    Boundary(Boundary),
    /// SIGSTOP, so long after its start; another takes over; SIGCONT.
    Freeze { after_ms: u64, thaw: Thaw },
    /// SIGKILL, so long after its start, while another process watches it.
    Watched { after_ms: u64 },
}

/// A write boundary: a crash point, and the how-manieth time it is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Boundary {
    pub(crate) point: &'static str,
    pub(crate) hit: u64,
}

/// When a frozen process wakes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thaw {
    /// As soon as another has its lane: both run.
    AtTakeover,
    /// When the other is done.
    AfterSuccessor,
}

/// Blows for all processes of a campaign.
#[derive(Debug)]
pub(crate) struct Nemesis {
    boundaries: Vec<Boundary>,
    turn: AtomicUsize,
    deaths: Mutex<BTreeMap<&'static str, u64>>,
    broken: Option<Break>,
}

impl Nemesis {
    pub(crate) fn new(broken: Option<Break>) -> Self {
        let boundaries = (1..=HITS).flat_map(|hit| POINTS.iter().map(move |point| (point, hit)));
        let reached = boundaries.filter(|(point, hit)| *hit <= hits(point));
        Self {
            boundaries: reached.map(|(point, hit)| Boundary { point, hit }).collect(),
            turn: AtomicUsize::new(0),
            deaths: Mutex::default(),
            broken,
        }
    }

    /// A blow for a process that carries out `order`.
    pub(crate) fn blow(&self, order: Order, plan: &Plan, dice: &mut Dice) -> Blow {
        let after_ms = instant(order, plan, dice);
        if self.broken == Some(Break::Lease) {
            // Only where two meet does it matter whether one of them lives.
            return Blow::Watched { after_ms: dice.between(plan.lasts_ms(), 4 * plan.lasts_ms()) };
        }
        match (dice.between(1, 100), self.boundary(order)) {
            (1..=45, Some(boundary)) => Blow::Boundary(boundary),
            (1..=75, _) => Blow::Instant { after_ms },
            (76..=82, _) => Blow::Watched { after_ms },
            _ => Blow::Freeze { after_ms, thaw: thaw(dice) },
        }
    }

    /// The next one, in rotation, that such a process can reach.
    fn boundary(&self, order: Order) -> Option<Boundary> {
        let reaches = |boundary: &&Boundary| sends(order) || !boundary.point.starts_with("deliver");
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % self.boundaries.len().max(1);
        let from_here = self.boundaries.iter().cycle().skip(turn).take(self.boundaries.len());
        from_here.filter(reaches).copied().next()
    }

    /// A process died at a write boundary.
    pub(crate) fn died_at(&self, boundary: Boundary) {
        *self.deaths().entry(boundary.point).or_default() += 1;
    }

    /// Crash points with the number of deaths there; those never reached too.
    pub(crate) fn coverage(&self) -> Vec<(&'static str, u64)> {
        let deaths = self.deaths();
        POINTS.iter().map(|point| (*point, deaths.get(point).copied().unwrap_or(0))).collect()
    }

    fn deaths(&self) -> MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.deaths.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const HITS: u64 = 8;

/// How often one process reaches a point, about.
fn hits(point: &str) -> u64 {
    match point.split('.').next() {
        Some("append") => HITS,
        Some("beat") => 4,
        Some("claim") => 2,
        _ => 1,
    }
}

fn sends(order: Order) -> bool {
    match order {
        Order::Send | Order::Answer { .. } => true,
        Order::Resume | Order::Replay => false,
    }
}

/// An instant of the life such a process will have. One that goes on has less left to do.
fn instant(order: Order, plan: &Plan, dice: &mut Dice) -> u64 {
    let whole = plan.lasts_ms();
    match order {
        Order::Send => dice.between(0, whole),
        Order::Resume | Order::Answer { .. } | Order::Replay if dice.happens(50) => {
            dice.between(0, whole / 3)
        }
        Order::Resume | Order::Answer { .. } | Order::Replay => dice.between(0, whole),
    }
}

fn thaw(dice: &mut Dice) -> Thaw {
    if dice.happens(60) { Thaw::AtTakeover } else { Thaw::AfterSuccessor }
}
