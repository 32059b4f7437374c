//! Plays one seed and checks it.

use std::fmt;

use super::check::{self, Violation};
use super::evidence::Evidence;
use super::shared::RemovedSafeguard;
use super::world_plan::WorldPlan;
use super::world_runner;

/// The result of one seed.
#[derive(Debug, Default)]
pub struct SeedResult {
    /// The seed.
    pub seed: u64,
    /// Number of entries in all logs.
    pub entries: u64,
    /// Processes that ended without a request.
    pub crashes: u64,
    /// Number of tool executions.
    pub effects: u64,
    /// Calls that a human was asked about because their effects were unknown.
    pub surfaced: u64,
    /// Violated invariants.
    pub violations: Vec<Violation>,
    /// The planned events.
    pub schedule: Vec<String>,
    /// The faults that happened.
    pub faults: Vec<String>,
    /// Every log, line by line, each lane after a heading that starts with `#`.
    pub log: Vec<String>,
}

/// Plays one seed and checks it.
#[must_use]
pub fn simulate(seed: u64, broken: RemovedSafeguard) -> SeedResult {
    play(WorldPlan::of(seed), broken)
}

/// Plays one seed in a world whose store forgets many claims, and checks it.
#[must_use]
pub fn simulate_forgotten_claims(seed: u64, broken: RemovedSafeguard) -> SeedResult {
    play(WorldPlan::of(seed).with_forgotten_claims(), broken)
}

fn play(plan: WorldPlan, broken: RemovedSafeguard) -> SeedResult {
    let seed = plan.seed;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    match runtime {
        Ok(runtime) => judge(seed, runtime.block_on(world_runner::play(plan, broken))),
        Err(error) => SeedResult {
            seed,
            violations: vec![Violation { invariant: "a runtime starts", what: error.to_string() }],
            ..SeedResult::default()
        },
    }
}

fn judge(seed: u64, evidence: Evidence) -> SeedResult {
    let (violations, surfaced) = check::all(&evidence);
    let heading = |lane: &super::evidence::LaneEvidence| format!("# {}", lane.lane);
    let lines = evidence.lanes.iter().flat_map(|lane| {
        let lines = lane.lines.iter().map(|stored| stored.line.to_string());
        std::iter::once(heading(lane)).chain(lines)
    });
    SeedResult {
        seed,
        entries: evidence.lanes.iter().map(|lane| lane.lines.len() as u64).sum(),
        crashes: evidence.seen.crashes,
        effects: evidence.seen.effects.len() as u64,
        surfaced,
        violations,
        log: lines.collect(),
        schedule: evidence.schedule,
        faults: evidence.seen.faults,
    }
}

impl SeedResult {
    /// Returns the violations, one line each.
    pub fn brief(&self) -> impl Iterator<Item = String> {
        let seed = self.seed;
        let line = move |Violation { invariant, what }: &Violation| {
            format!("seed {seed}: {invariant}: {what}")
        };
        self.violations.iter().map(line)
    }
}

impl fmt::Display for SeedResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# seed {}", self.seed)?;
        for Violation { invariant, what } in &self.violations {
            writeln!(f, "# broken: {invariant}: {what}")?;
        }
        for planned in &self.schedule {
            writeln!(f, "# planned {planned}")?;
        }
        for fault in &self.faults {
            writeln!(f, "# fault   {fault}")?;
        }
        self.log.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}
