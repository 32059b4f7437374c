//! `simulate --seeds N [--from S] [--seed X] [--break fence|envelope|name] [--jobs J] [--replay FILE]`
//! `simulate --forgotten-claims N [--from S] [--break name]`
//! `simulate --hostile N [--from S]`

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use windlass_sim::hostile::{HostileFigures, hostile};
use windlass_sim::world::{
    RemovedSafeguard, SeedResult, replay, simulate, simulate_forgotten_claims,
};

/// Number of failing seeds that are listed beside the first.
const MOST_LINES: usize = 40;

/// One long conversation with a hostile model for this many worlds.
const SEEDS_PER_LONG_RUN: u64 = 200;

struct Options {
    from: u64,
    seeds: u64,
    jobs: usize,
    broken: RemovedSafeguard,
    /// Plays one seed in the chosen kind of world.
    play: fn(u64, RemovedSafeguard) -> SeedResult,
    replay: Option<String>,
    hostile: Option<u64>,
}

#[derive(Default)]
struct Totals {
    seeds: u64,
    entries: u64,
    crashes: u64,
    effects: u64,
    surfaced: u64,
    failures: u64,
    /// Failing seeds, one line each.
    briefly: Vec<String>,
    first: Option<SeedResult>,
}

fn main() -> ExitCode {
    match options(std::env::args().skip(1)) {
        Err(problem) => fail(&problem),
        Ok(Options { replay: Some(file), .. }) => replay_file(&file),
        Ok(Options { hostile: Some(runs), from, .. }) => hostile_runs(from, runs),
        Ok(options) => {
            let long = hostile_runs(options.from, options.seeds / SEEDS_PER_LONG_RUN);
            let worlds = report(run(&options));
            if long == ExitCode::SUCCESS { worlds } else { long }
        }
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        from: 0,
        seeds: 1_000,
        jobs: 1,
        broken: RemovedSafeguard::Nothing,
        play: simulate,
        replay: None,
        hostile: None,
    };
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--seeds" => options.seeds = number(&value)?,
            "--from" => options.from = number(&value)?,
            "--seed" => (options.from, options.seeds) = (number(&value)?, 1),
            "--forgotten-claims" => {
                (options.play, options.seeds) = (simulate_forgotten_claims, number(&value)?);
            }
            "--jobs" => options.jobs = usize::try_from(number(&value)?).unwrap_or(1),
            "--break" => options.broken = safeguard(&value)?,
            "--replay" => options.replay = Some(value),
            "--hostile" => options.hostile = Some(number(&value)?),
            _ => return Err(format!("{flag} is not known; see the top of simulate.rs")),
        }
    }
    Ok(options)
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text} is not a number"))
}

fn safeguard(name: &str) -> Result<RemovedSafeguard, String> {
    match name {
        "fence" => Ok(RemovedSafeguard::Fence),
        "envelope" => Ok(RemovedSafeguard::Envelope),
        "name" => Ok(RemovedSafeguard::Name),
        _ => Err(format!("--break takes fence, envelope or name, not {name}")),
    }
}

/// Runs the seeds. Each runs on one thread with a runtime of its own.
fn run(options: &Options) -> Totals {
    let next = AtomicU64::new(options.from);
    let end = options.from.saturating_add(options.seeds);
    let totals = Mutex::new(Totals::default());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    let verdict = (options.play)(seed, options.broken);
                    totals.lock().unwrap_or_else(PoisonError::into_inner).add(verdict);
                }
            });
        }
    });
    totals.into_inner().unwrap_or_else(PoisonError::into_inner)
}

impl Totals {
    fn add(&mut self, verdict: SeedResult) {
        self.seeds += 1;
        self.entries += verdict.entries;
        self.crashes += verdict.crashes;
        self.effects += verdict.effects;
        self.surfaced += verdict.surfaced;
        if !verdict.violations.is_empty() {
            self.failures += 1;
            self.briefly.extend(verdict.brief());
            let earlier = self.first.as_ref().is_none_or(|first| verdict.seed < first.seed);
            if earlier {
                self.first = Some(verdict);
            }
        }
    }
}

fn report(totals: Totals) -> ExitCode {
    if let Some(first) = &totals.first {
        print!("{first}");
    }
    let others = totals.briefly.iter().filter(|_| totals.failures > 1).take(MOST_LINES);
    others.for_each(|line| println!("# {line}"));
    let Totals { seeds, entries, crashes, effects, surfaced, failures, .. } = totals;
    println!(
        "simulated: {seeds} seeds, {entries} entries, {crashes} crashes, {effects} effects, \
         {surfaced} surfaced, {failures} failures"
    );
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Plays long conversations with a hostile model.
fn hostile_runs(from: u64, runs: u64) -> ExitCode {
    let mut figures = HostileFigures::default();
    for seed in from..from.saturating_add(runs) {
        let played = hostile(seed);
        for failure in &played.failures {
            println!("# seed {seed}: {failure}");
        }
        figures.add(played);
    }
    if figures.runs > 0 {
        println!("{figures}");
    }
    if figures.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn replay_file(file: &str) -> ExitCode {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return fail(&format!("{file}: {error}")),
    };
    match replay(&text) {
        Ok(entries) => {
            println!("replayed: {entries} entries, all as decided");
            ExitCode::SUCCESS
        }
        Err(problem) => fail(&format!("{file} line {}: {}", problem.line, problem.error)),
    }
}

fn fail(problem: &str) -> ExitCode {
    eprintln!("simulate: {problem}");
    ExitCode::FAILURE
}
