//! The seeded simulator, small enough for every test run: `cargo xtask simulate` plays more seeds.

use windlass_sim::hostile::{HostileFigures, hostile};
use windlass_sim::world::{
    RemovedSafeguard, SeedResult, replay, simulate, simulate_forgotten_claims,
};

/// Number of seeds within which a removed safeguard must be noticed.
const PATIENCE: u64 = 300;

/// Records which show that the checks of the core were active.
const JUDGEMENT: [&str; 13] = [
    "review_requested/1",
    "review_completed/1",
    "compacted/1",
    "recovery_step_used/1",
    "call_classified/1",
    "prompt_withdrawn/1",
    "answer_rejected/1",
    "answer_marked_suspect/1",
    "loop_detection_updated/1",
    "time_limit_reached/1",
    "budget_warned/1",
    "fallback_model_selected/1",
    "guidance_given/1",
];

fn first_failure(broken: RemovedSafeguard) -> Option<SeedResult> {
    let verdicts = (0..PATIENCE).map(|seed| simulate(seed, broken));
    verdicts.into_iter().find(|verdict| !verdict.violations.is_empty())
}

fn has(verdict: &SeedResult, invariant: &str) -> bool {
    verdict.violations.iter().any(|violation| violation.invariant.contains(invariant))
}

// spec: INV-01, INV-02, INV-03, INV-04, INV-05, INV-06, INV-07, INV-09, INV-11, INV-12
// spec: RESUME-01, RESUME-02, RESUME-03, RESUME-04, RESUME-05, RESUME-06
// spec: FEED-03, FEED-09, LANES-01, LANES-02, LANES-03, LANES-06
// spec: FAULT-04, FAULT-15, FAULT-36, FAULT-38, FAULT-39
#[test]
fn nothing_breaks_in_three_hundred_worlds() {
    let mut seen = SeedResult::default();
    for seed in 0..300 {
        let verdict = simulate(seed, RemovedSafeguard::Nothing);
        assert!(verdict.violations.is_empty(), "{verdict}");
        seen.entries += verdict.entries;
        seen.crashes += verdict.crashes;
        seen.effects += verdict.effects;
        seen.surfaced += verdict.surfaced;
        seen.log.extend(verdict.log);
    }
    for kind in JUDGEMENT {
        assert!(seen.log.iter().any(|line| line.contains(kind)), "no {kind} in any world");
    }
    assert!(seen.entries > 3_000 && seen.crashes > 100, "the worlds were empty: {seen:?}");
    assert!(seen.effects > 500 && seen.surfaced > 0, "the worlds were harmless: {seen:?}");
}

// spec: INV-11
#[test]
fn the_same_seed_gives_the_same_log() {
    for seed in (0..25).chain([216, 676, 1_275, 2_794]) {
        let (first, second) =
            (simulate(seed, RemovedSafeguard::Nothing), simulate(seed, RemovedSafeguard::Nothing));
        assert_eq!(first.log, second.log, "seed {seed}");
        assert_eq!(first.faults, second.faults, "seed {seed}");
    }
}

/// Seeds that found a bug once.
#[test]
fn old_failures_stay_mended() {
    // A probe that hangs; a clock set back; a claim that is never released; a call announced and
    // not sent; a frozen process that sends heartbeats again; a paused call behind another; a row
    // left behind; an early call that was not yet due.
    for seed in [16, 22, 72, 84, 88, 146, 180, 676, 1_275, 2_794, 9_365, 21_082] {
        let verdict = simulate(seed, RemovedSafeguard::Nothing);
        assert!(verdict.violations.is_empty(), "{verdict}");
    }
}

// spec: INV-04, INV-08
#[test]
fn a_hostile_model_changes_no_rule_and_passes_no_cap() {
    let mut figures = HostileFigures::default();
    for seed in 0..20 {
        figures.add(hostile(seed));
    }
    assert!(figures.failures.is_empty(), "{:?}", figures.failures);
    assert_eq!(figures.rounds, 20 * 200, "{figures}");
    assert!(figures.compactions > 100 && figures.humans > 10, "{figures}");
    assert_eq!(figures.kept, figures.looked_for, "{figures}");
}

// spec: INV-07
#[test]
fn a_store_without_a_fence_is_noticed() {
    let verdict = first_failure(RemovedSafeguard::Fence).expect("no seed noticed");
    // Two owners are noticed by the entries that they overwrite, or by the commands that both of
    // them read.
    let two_owners = ["decides every entry again", "an accepted message is read once"];
    assert!(two_owners.iter().any(|broken| has(&verdict, broken)), "{verdict}");
}

// spec: INV-07
#[test]
fn owners_that_are_known_by_their_epoch_alone_are_noticed() {
    let worlds = |broken| (0..PATIENCE).map(move |seed| simulate_forgotten_claims(seed, broken));
    let broken = |verdict: &SeedResult| !verdict.violations.is_empty();
    let verdict = worlds(RemovedSafeguard::Name).find(broken).expect("no seed noticed");
    let two_owners = ["at most one owner appends", "its process lost the lane"];
    assert!(two_owners.iter().any(|broken| has(&verdict, broken)), "{verdict}");
    let sound = simulate_forgotten_claims(verdict.seed, RemovedSafeguard::Nothing);
    assert!(sound.violations.is_empty(), "{sound}");
}

// spec: INV-02
#[test]
fn a_started_record_that_a_power_cut_can_take_is_noticed() {
    let verdict = first_failure(RemovedSafeguard::Envelope).expect("no seed noticed");
    assert!(has(&verdict, "once-only"), "{verdict}");
}

#[test]
fn a_printed_log_replays() {
    let verdict = simulate(7, RemovedSafeguard::Nothing);
    assert_eq!(replay(&verdict.to_string()), Ok(verdict.entries));
}

#[test]
fn a_log_that_was_tampered_with_does_not_replay() {
    let printed = simulate(7, RemovedSafeguard::Nothing).to_string();
    let tampered = printed.replace("\"run_started/1\"", "\"run_begun/1\"");
    assert!(replay(&tampered).is_err());
}
