//! Chooses the next fault.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use windlass_store::crash_points::{CRASH_POINTS, SQLITE_CRASH_POINTS};

use crate::args::{BrokenPromise, StoreKind};
use crate::plan::binary_command::BinaryCommand;
use crate::plan::conversation_plan::ConversationPlan;
use crate::plan::seeded_random::SeededRandom;

/// A fault of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessFault {
    /// SIGKILL, this long after its start.
    Instant { after_ms: u64 },
    /// Death at a write boundary.
    Boundary(WriteBoundary),
    /// SIGSTOP, this long after its start; another process takes over; SIGCONT.
    Freeze { after_ms: u64, thaw: ThawMoment },
    /// SIGKILL, this long after its start, while another process watches it.
    Watched { after_ms: u64 },
}

/// A write boundary: a crash point, and at which visit of it the process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WriteBoundary {
    pub(crate) point: &'static str,
    pub(crate) hit: u64,
}

/// When a frozen process continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThawMoment {
    /// As soon as another process owns its lane: both run.
    AtTakeover,
    /// When the other process is done.
    AfterSuccessor,
}

/// Chooses the faults of all processes of a campaign.
#[derive(Debug)]
pub(crate) struct FaultInjector {
    boundaries: Vec<WriteBoundary>,
    next_boundary: AtomicUsize,
    boundary_deaths: Mutex<BTreeMap<&'static str, u64>>,
    broken: Option<BrokenPromise>,
    store: StoreKind,
}

/// Returns the crash points of a store.
fn crash_points(store: StoreKind) -> impl Iterator<Item = &'static &'static str> {
    let own = match store {
        StoreKind::Sqlite => SQLITE_CRASH_POINTS,
        StoreKind::Postgres => &[],
    };
    CRASH_POINTS.iter().chain(own)
}

impl FaultInjector {
    pub(crate) fn new(store: StoreKind, broken: Option<BrokenPromise>) -> Self {
        let boundaries =
            (1..=MAX_HITS).flat_map(|hit| crash_points(store).map(move |point| (point, hit)));
        let reached = boundaries.filter(|(point, hit)| *hit <= expected_hits(point));
        Self {
            boundaries: reached.map(|(point, hit)| WriteBoundary { point, hit }).collect(),
            next_boundary: AtomicUsize::new(0),
            boundary_deaths: Mutex::default(),
            broken,
            store,
        }
    }

    /// Chooses a fault for a process that executes `command`.
    pub(crate) fn next_fault(
        &self,
        command: BinaryCommand,
        plan: &ConversationPlan,
        random: &mut SeededRandom,
    ) -> ProcessFault {
        let after_ms = choose_instant(command, plan, random);
        if self.broken == Some(BrokenPromise::Lease) {
            // A broken lease shows only if a live owner and another process meet.
            return ProcessFault::Watched {
                after_ms: random.between(plan.expected_ms(), 4 * plan.expected_ms()),
            };
        }
        match (random.between(1, 100), self.choose_boundary(command)) {
            (1..=45, Some(boundary)) => ProcessFault::Boundary(boundary),
            (1..=75, _) => ProcessFault::Instant { after_ms },
            (76..=82, _) => ProcessFault::Watched { after_ms },
            _ => ProcessFault::Freeze { after_ms, thaw: choose_thaw(random) },
        }
    }

    /// Chooses the next boundary, in rotation, that such a process can reach.
    fn choose_boundary(&self, command: BinaryCommand) -> Option<WriteBoundary> {
        let reaches = |boundary: &&WriteBoundary| {
            sends_prompt(command) || !boundary.point.starts_with("deliver")
        };
        let turn =
            self.next_boundary.fetch_add(1, Ordering::Relaxed) % self.boundaries.len().max(1);
        let from_here = self.boundaries.iter().cycle().skip(turn).take(self.boundaries.len());
        from_here.filter(reaches).copied().next()
    }

    /// Records that a process died at a write boundary.
    pub(crate) fn record_death(&self, boundary: WriteBoundary) {
        *self.lock_deaths().entry(boundary.point).or_default() += 1;
    }

    /// Crash points with the number of deaths there, including those that were never reached.
    pub(crate) fn coverage(&self) -> Vec<(&'static str, u64)> {
        let deaths = self.lock_deaths();
        let deaths = |point: &'static str| (point, deaths.get(point).copied().unwrap_or(0));
        crash_points(self.store).map(|point| deaths(point)).collect()
    }

    fn lock_deaths(&self) -> MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.boundary_deaths.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const MAX_HITS: u64 = 8;

/// How often one process reaches a point, approximately.
fn expected_hits(point: &str) -> u64 {
    match point.split('.').next() {
        Some("append") => MAX_HITS,
        Some("beat") => 4,
        Some("claim") => 2,
        _ => 1,
    }
}

fn sends_prompt(command: BinaryCommand) -> bool {
    match command {
        BinaryCommand::Send | BinaryCommand::Answer { .. } => true,
        BinaryCommand::Resume | BinaryCommand::Replay => false,
    }
}

/// Chooses an instant of the process's expected lifetime. A resuming process has less left to do.
fn choose_instant(
    command: BinaryCommand,
    plan: &ConversationPlan,
    random: &mut SeededRandom,
) -> u64 {
    let whole = plan.expected_ms();
    match command {
        BinaryCommand::Send => random.between(0, whole),
        BinaryCommand::Resume | BinaryCommand::Answer { .. } | BinaryCommand::Replay
            if random.chance(50) =>
        {
            random.between(0, whole / 3)
        }
        BinaryCommand::Resume | BinaryCommand::Answer { .. } | BinaryCommand::Replay => {
            random.between(0, whole)
        }
    }
}

fn choose_thaw(random: &mut SeededRandom) -> ThawMoment {
    if random.chance(60) { ThawMoment::AtTakeover } else { ThawMoment::AfterSuccessor }
}
