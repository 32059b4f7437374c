//! The report that the explorer prints.

use super::batch::batch;
use super::config::ExplorerConfig;
use super::configs;
use super::core_under_test::CoreUnderTest;
use super::coverage::Coverage;
use super::invariants;
use super::moves::WorldMove;
use super::search::{ExplorationEnd, ExplorationLimits, ExplorationResult, ViolationTrace, search};
use super::stopwatch::Stopwatch;
use super::transitions::ExplorerSim;

const LEAST_STATES: u64 = 1_000_000;

const FULL: ExplorationLimits = ExplorationLimits { states: 5_000_000, ms: 600_000 };

/// Names every configuration and every invariant.
#[must_use]
pub fn list() -> String {
    let configs = configs::all();
    let configs = configs.iter().map(|config| format!("{:14} {}", config.name, config.about));
    let invariants = invariants::names().into_iter().map(|name| format!("invariant: {name}"));
    configs.chain(invariants).collect::<Vec<_>>().join("\n")
}

/// Explores one configuration; `Err` if there is none of that name or an invariant is broken.
pub fn explore_one(name: &str) -> Result<String, String> {
    let config = configs::find_config(name).ok_or_else(|| format!("no configuration {name}"))?;
    let (line, walk) = walk(&config);
    match &walk.violation {
        Some(violation) => Err(format!("{line}\n{}", tell(&config, violation))),
        None => Ok(line),
    }
}

fn walk(config: &ExplorerConfig) -> (String, ExplorationResult) {
    let watch = Stopwatch::start();
    let walk = search(ExplorerSim { config, eyes: CoreUnderTest::unmodified() }, FULL);
    let end = match walk.end {
        ExplorationEnd::Exhausted => "",
        ExplorationEnd::Bounded => ", bounded",
    };
    let line = format!(
        "{:14} {:9} states {:10} transitions {:6} ms{end}",
        config.name,
        walk.states,
        walk.transitions,
        watch.elapsed_ms()
    );
    (line, walk)
}

/// Explores every configuration. `Err` says what is broken or missing.
pub fn explore_all() -> Result<String, String> {
    let configs = configs::all();
    let walks = batch(&configs, walk, |_, (line, _)| println!("{line}"));
    let mut total = ExplorationResult::default();
    for (config, (_, walk)) in configs.iter().zip(&walks) {
        if let Some(violation) = &walk.violation {
            return Err(tell(config, violation));
        }
        total.coverage.merge(&walk.coverage);
        total.states += walk.states;
        total.transitions += walk.transitions;
    }
    judge(&total)
}

fn judge(total: &ExplorationResult) -> Result<String, String> {
    let ExplorationResult { states, transitions, coverage, .. } = total;
    let (covered, all) = (coverage.covered_pairs(), Coverage::all());
    let line = format!(
        "explored: {states} states, {transitions} transitions, \
         {covered}/{all} phase-input pairs, 0 violations"
    );
    let mut missing: Vec<String> =
        coverage.missing().iter().map(|pair| format!("missing: {pair}")).collect();
    if *states < LEAST_STATES {
        missing.push(format!("missing: {} states", LEAST_STATES - states));
    }
    if missing.is_empty() { Ok(line) } else { Err(format!("{}\n{line}", missing.join("\n"))) }
}

fn tell(config: &ExplorerConfig, violation: &ViolationTrace) -> String {
    let broken = &violation.broken;
    let mut lines = vec![
        format!("violation: {}", broken.invariant),
        format!("what: {}", broken.what),
        format!("configuration: {}", config.name),
        "path:".to_owned(),
    ];
    lines.extend(violation.path.iter().map(|step| format!("  {}", describe(config, *step))));
    lines.push("log:".to_owned());
    lines.extend(violation.log.iter().cloned());
    lines.extend(broken.entry.iter().map(|entry| format!("then: {}", entry.encode())));
    lines.join("\n")
}

fn describe(config: &ExplorerConfig, step: WorldMove) -> String {
    let line = |line: u8| config.lines.get(usize::from(line)).map_or("?", |line| line.name);
    match step {
        WorldMove::Say(which) => format!("the model says {}", line(which)),
        WorldMove::Block(which) => format!("a call streams of {}", line(which)),
        WorldMove::Die { keep, owner } => {
            format!("death; state {keep} of the disk goes to {owner:?}")
        }
        other => format!("{other:?}"),
    }
}
