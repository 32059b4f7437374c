//! Who counts as dead.

use std::sync::Arc;

use super::Watch;
use crate::lease::LeaseTimes;
use crate::ports::SeenBeat;

fn beat(worker: &str, beats: u64) -> SeenBeat {
    SeenBeat { worker: Arc::from(worker), beats }
}

// spec: SCALE-01
#[test]
fn only_a_beat_that_stood_still_for_a_whole_lease_is_dead() {
    let mut watch = Watch::new(100);
    assert_eq!(watch.dead(vec![beat("a", 1), beat("b", 1)], 0, "me"), []);
    assert_eq!(watch.dead(vec![beat("a", 1), beat("b", 2)], 99, "me"), []);
    assert_eq!(watch.dead(vec![beat("a", 1), beat("b", 2)], 100, "me"), [beat("a", 1)]);
    assert_eq!(watch.dead(vec![beat("a", 2), beat("b", 2)], 150, "me"), []);
    assert_eq!(watch.dead(vec![beat("b", 2)], 199, "me"), [beat("b", 2)]);
    assert_eq!(watch.dead(vec![beat("a", 2), beat("b", 3)], 500, "me"), [], "seen anew");
}

#[test]
fn this_process_never_counts_as_dead() {
    let mut watch = Watch::new(100);
    watch.dead(vec![beat("me", 1)], 0, "me");
    assert_eq!(watch.dead(vec![beat("me", 1)], 1_000, "me"), []);
}

// spec: SCALE-01
#[test]
fn the_times_are_the_promised_ones() {
    assert_eq!(LeaseTimes::default(), LeaseTimes { beat_ms: 3_000, expiry_ms: 10_000 });
}
