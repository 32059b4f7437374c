//! What the explorer prints.

use super::act::Sim;
use super::batch::batch;
use super::config::Config;
use super::configs;
use super::coverage::Coverage;
use super::eyes::Eyes;
use super::invariants;
use super::moves::Move;
use super::search::{End, Reach, Violation, Walk, search};
use super::watch::Watch;

const LEAST_STATES: u64 = 1_000_000;

const FULL: Reach = Reach { states: 5_000_000, ms: 600_000 };

/// Names every configuration and every invariant.
#[must_use]
pub fn list() -> String {
    let configs = configs::all();
    let configs = configs.iter().map(|config| format!("{:14} {}", config.name, config.about));
    let invariants = invariants::names().into_iter().map(|name| format!("invariant: {name}"));
    configs.chain(invariants).collect::<Vec<_>>().join("\n")
}

/// Walks one configuration; `Err` if there is none of that name or something is broken.
pub fn explore_one(name: &str) -> Result<String, String> {
    let config = configs::named(name).ok_or_else(|| format!("no configuration {name}"))?;
    let (line, walk) = walk(&config);
    match &walk.violation {
        Some(violation) => Err(format!("{line}\n{}", tell(&config, violation))),
        None => Ok(line),
    }
}

fn walk(config: &Config) -> (String, Walk) {
    let watch = Watch::start();
    let walk = search(Sim { config, eyes: Eyes::honest() }, FULL);
    let end = match walk.end {
        End::Exhausted => "",
        End::Bounded => ", bounded",
    };
    let line = format!(
        "{:14} {:9} states {:10} transitions {:6} ms{end}",
        config.name,
        walk.states,
        walk.transitions,
        watch.ms()
    );
    (line, walk)
}

/// Walks every configuration. `Err` says what is broken or missing.
pub fn explore_all() -> Result<String, String> {
    let configs = configs::all();
    let walks = batch(&configs, walk, |_, (line, _)| println!("{line}"));
    let mut total = Walk::default();
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

fn judge(total: &Walk) -> Result<String, String> {
    let Walk { states, transitions, coverage, .. } = total;
    let (covered, all) = (coverage.covered(), Coverage::all());
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

fn tell(config: &Config, violation: &Violation) -> String {
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

fn describe(config: &Config, step: Move) -> String {
    let line = |line: u8| config.lines.get(usize::from(line)).map_or("?", |line| line.name);
    match step {
        Move::Say(which) => format!("the model says {}", line(which)),
        Move::Block(which) => format!("a call streams of {}", line(which)),
        Move::Die { keep, owner } => format!("death; state {keep} of the disk goes to {owner:?}"),
        other => format!("{other:?}"),
    }
}
