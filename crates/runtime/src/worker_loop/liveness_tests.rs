//! Tests: which workers count as dead.

use std::sync::Arc;

use super::LivenessMonitor;
use crate::lease::LeaseTimes;
use crate::ports::ObservedHeartbeat;

fn heartbeat_of(worker: &str, heartbeats: u64) -> ObservedHeartbeat {
    ObservedHeartbeat { worker: Arc::from(worker), heartbeats }
}

// spec: SCALE-01
#[test]
fn only_a_beat_that_stood_still_for_a_whole_lease_is_dead() {
    let mut watch = LivenessMonitor::new(100);
    assert_eq!(watch.find_dead(vec![heartbeat_of("a", 1), heartbeat_of("b", 1)], 0, "me"), []);
    assert_eq!(watch.find_dead(vec![heartbeat_of("a", 1), heartbeat_of("b", 2)], 99, "me"), []);
    assert_eq!(
        watch.find_dead(vec![heartbeat_of("a", 1), heartbeat_of("b", 2)], 100, "me"),
        [heartbeat_of("a", 1)]
    );
    assert_eq!(watch.find_dead(vec![heartbeat_of("a", 2), heartbeat_of("b", 2)], 150, "me"), []);
    assert_eq!(watch.find_dead(vec![heartbeat_of("b", 2)], 199, "me"), [heartbeat_of("b", 2)]);
    assert_eq!(
        watch.find_dead(vec![heartbeat_of("a", 2), heartbeat_of("b", 3)], 500, "me"),
        [],
        "seen anew"
    );
}

#[test]
fn this_process_never_counts_as_dead() {
    let mut watch = LivenessMonitor::new(100);
    watch.find_dead(vec![heartbeat_of("me", 1)], 0, "me");
    assert_eq!(watch.find_dead(vec![heartbeat_of("me", 1)], 1_000, "me"), []);
}

// spec: SCALE-01
#[test]
fn the_times_are_the_promised_ones() {
    assert_eq!(LeaseTimes::default(), LeaseTimes { heartbeat_ms: 3_000, expiry_ms: 10_000 });
}
