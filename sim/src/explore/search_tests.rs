use super::configs;
use super::core_under_test::CoreUnderTest;
use super::coverage::Coverage;
use super::moves::{CommandChoice, WorldMove};
use super::mutants;
use super::mutation_test;
use super::search::{ExplorationEnd, ExplorationLimits, ExplorationResult, search};
use super::transitions::ExplorerSim;
use super::world::ExploredState;

/// Explores the first states of a configuration.
fn walk(name: &str, states: u64) -> ExplorationResult {
    let config = configs::find_config(name).unwrap();
    search(
        ExplorerSim { config: &config, eyes: CoreUnderTest::unmodified() },
        ExplorationLimits { states, ms: 60_000 },
    )
}

fn assert_sound(walk: &ExplorationResult) {
    let broken = walk.violation.as_ref().map(|violation| &violation.broken);
    assert!(broken.is_none(), "{broken:?}");
}

// spec: INV-01, INV-02, INV-03, INV-04, INV-05, INV-09, INV-11, INV-12
#[test]
fn the_first_states_of_every_configuration_are_sound() {
    let mut coverage = Coverage::default();
    for config in configs::all() {
        let walk = walk(config.name, 400);
        assert_sound(&walk);
        assert!(walk.transitions >= walk.states - 1, "{}", config.name);
        coverage.merge(&walk.coverage);
    }
    assert!(coverage.covered_pairs() > Coverage::all() / 2, "{:?}", coverage.missing());
}

// spec: INV-03, INV-12
#[test]
fn a_small_configuration_is_walked_to_its_end() {
    let walk = walk("alone", 10_000);
    assert_sound(&walk);
    assert_eq!(walk.end, ExplorationEnd::Exhausted);
    assert!(walk.states > 100, "{}", walk.states);
}

#[test]
fn before_its_settings_a_lane_settles_nothing() {
    let config = configs::find_config("alone").unwrap();
    let sim = ExplorerSim { config: &config, eyes: CoreUnderTest::unmodified() };
    let mut world = ExploredState::new(&config);
    let before = world.key();
    world = sim.act(&world, WorldMove::Post(CommandChoice::Prompt)).unwrap();
    assert_eq!(world.live.head, 0);
    assert_ne!(world.key(), before, "the message waits");
}

#[test]
fn a_walk_that_is_bounded_says_so() {
    assert_eq!(walk("reads", 50).end, ExplorationEnd::Bounded);
}

#[test]
fn walks_are_the_same_every_time() {
    let (a, b) = (walk("alone", 10_000), walk("alone", 10_000));
    assert_eq!((a.states, a.transitions), (b.states, b.transitions));
}

// spec: INV-01, INV-02, INV-03, INV-04, INV-05, INV-09, INV-11, INV-12
#[test]
fn every_planted_bug_is_found() {
    for mutant in mutants::all() {
        assert!(mutation_test::find_mutant(mutant).is_some(), "missed {}", mutant.name);
    }
}

// spec: INV-02
#[test]
fn a_violation_comes_with_the_way_there() {
    let mutant = mutants::all().find(|m| m.name == "forget an owner's takeover").unwrap();
    let config = configs::find_config("once-only").unwrap();
    let sim = ExplorerSim { config: &config, eyes: CoreUnderTest::with_mutant(mutant) };
    let walk = search(sim, ExplorationLimits { states: 10_000, ms: 60_000 });
    let violation = walk.violation.unwrap();
    assert_eq!(violation.broken.invariant, "a once-only call takes effect once");
    assert!(violation.path.len() >= 4, "{:?}", violation.path);
    assert!(violation.log.len() >= 3, "{:?}", violation.log);
}
