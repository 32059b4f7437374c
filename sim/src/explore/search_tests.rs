use super::act::Sim;
use super::configs;
use super::coverage::Coverage;
use super::eyes::Eyes;
use super::hunt;
use super::moves::{Letter, Move};
use super::mutants;
use super::search::{End, Reach, Walk, search};
use super::world::World;

/// Walks the first states of a configuration.
fn walk(name: &str, states: u64) -> Walk {
    let config = configs::named(name).unwrap();
    search(Sim { config: &config, eyes: Eyes::honest() }, Reach { states, ms: 60_000 })
}

fn assert_sound(walk: &Walk) {
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
    assert!(coverage.covered() > Coverage::all() / 2, "{:?}", coverage.missing());
}

// spec: INV-03, INV-12
#[test]
fn a_small_configuration_is_walked_to_its_end() {
    let walk = walk("alone", 10_000);
    assert_sound(&walk);
    assert_eq!(walk.end, End::Exhausted);
    assert!(walk.states > 100, "{}", walk.states);
}

#[test]
fn before_its_settings_a_lane_settles_nothing() {
    let config = configs::named("alone").unwrap();
    let sim = Sim { config: &config, eyes: Eyes::honest() };
    let mut world = World::new(&config);
    let before = world.key();
    world = sim.act(&world, Move::Post(Letter::Prompt)).unwrap();
    assert_eq!(world.live.head, 0);
    assert_ne!(world.key(), before, "the mail waits");
}

#[test]
fn a_walk_that_is_bounded_says_so() {
    assert_eq!(walk("reads", 50).end, End::Bounded);
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
        assert!(hunt::hunt(mutant).is_some(), "missed {}", mutant.name);
    }
}

// spec: INV-02
#[test]
fn a_violation_comes_with_the_way_there() {
    let mutant = mutants::all().find(|m| m.name == "forget an owner's takeover").unwrap();
    let config = configs::named("once-only").unwrap();
    let sim = Sim { config: &config, eyes: Eyes::planted(mutant) };
    let walk = search(sim, Reach { states: 10_000, ms: 60_000 });
    let violation = walk.violation.unwrap();
    assert_eq!(violation.broken.invariant, "a once-only call takes effect once");
    assert!(violation.path.len() >= 4, "{:?}", violation.path);
    assert!(violation.log.len() >= 3, "{:?}", violation.log);
}
