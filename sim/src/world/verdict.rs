//! One seed, played and judged.

use std::fmt;

use super::check::{self, Violation};
use super::evidence::Evidence;
use super::plan::Plan;
use super::shared::Break;
use super::stage;

/// What came of one seed.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Which seed.
    pub seed: u64,
    /// Entries in all logs.
    pub entries: u64,
    /// Processes that ended without being asked.
    pub crashes: u64,
    /// Executions of tools.
    pub effects: u64,
    /// Calls put before a human because nobody knew what they did.
    pub surfaced: u64,
    /// What was not as it must be.
    pub violations: Vec<Violation>,
    /// What was planned.
    pub schedule: Vec<String>,
    /// What went wrong.
    pub faults: Vec<String>,
    /// Every log, line by line, each lane after a heading that begins with `#`.
    pub log: Vec<String>,
}

/// Plays one seed and judges it.
#[must_use]
pub fn simulate(seed: u64, broken: Break) -> Verdict {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    match runtime {
        Ok(runtime) => judge(seed, runtime.block_on(stage::play(Plan::of(seed), broken))),
        Err(error) => Verdict {
            seed,
            violations: vec![Violation { invariant: "a runtime starts", what: error.to_string() }],
            ..Verdict::default()
        },
    }
}

fn judge(seed: u64, evidence: Evidence) -> Verdict {
    let (violations, surfaced) = check::all(&evidence);
    let heading = |lane: &super::evidence::LaneEvidence| format!("# {}", lane.lane);
    let lines = evidence.lanes.iter().flat_map(|lane| {
        let lines = lane.lines.iter().map(|stored| stored.line.to_string());
        std::iter::once(heading(lane)).chain(lines)
    });
    Verdict {
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

impl Verdict {
    /// What was broken, one line each.
    pub fn brief(&self) -> impl Iterator<Item = String> {
        let seed = self.seed;
        let line = move |Violation { invariant, what }: &Violation| {
            format!("seed {seed}: {invariant}: {what}")
        };
        self.violations.iter().map(line)
    }
}

impl fmt::Display for Verdict {
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
