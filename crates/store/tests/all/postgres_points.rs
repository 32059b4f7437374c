//! Crashing at every write boundary. The victim is this same test binary, started again with one of
//! the crash points armed: without the feature there are none.
#![cfg(feature = "faults")]

use std::process::{Command, ExitStatus};
use std::sync::Arc;

use windlass_runtime::ports::Store;
use windlass_store::crash_points;

use crate::kit::points::{check_sound_after, run_to_crash_point};
use crate::kit::{append_one, lane, message};
use crate::postgres_kit::{database, open};

const PLACE: &str = "WINDLASS_TEST_DATABASE";

/// Not a test: the code of the victim.
#[tokio::test]
async fn victim() {
    let Ok(location) = std::env::var(PLACE) else { return };
    let store = open(&location).await;
    run_to_crash_point(&store).await;
}

#[expect(clippy::disallowed_methods, reason = "somebody has to die")]
fn run_victim(name: &str, location: &str, variable: &str, value: &str) -> ExitStatus {
    let mut victim = Command::new(std::env::current_exe().unwrap());
    victim.args(["--exact", &format!("postgres_points::{name}")]);
    victim.env(PLACE, location).env(variable, value);
    victim.output().unwrap().status
}

// spec: FAULT-01, FAULT-02, FAULT-03, FAULT-10
#[tokio::test]
async fn every_crash_point_leaves_a_sound_store() {
    for point in crash_points::CRASH_POINTS {
        let url = database().await;
        let status = run_victim("victim", &url, "WINDLASS_FAULT", &format!("{point}:1"));
        assert!(!status.success(), "nobody died at {point}");
        let store = open(&url).await;
        check_sound_after(point, &store).await;
    }
}

#[tokio::test]
async fn broken_promises_are_broken() {
    for (name, broken) in [("unfenced_victim", "fence"), ("unleased_victim", "lease")] {
        let url = database().await;
        assert!(run_victim(name, &url, "WINDLASS_BREAK", broken).success(), "{broken}");
    }
}

/// Not a test: what an owner without a fence can do.
#[tokio::test]
async fn unfenced_victim() {
    let Ok(location) = std::env::var(PLACE) else { return };
    let store = open(&location).await;
    store.enqueue_message(lane("a"), message("k")).await.unwrap();
    store.append(append_one("a", 77, 0, "stale")).await.unwrap();
    store.append(append_one("a", 76, 0, "staler")).await.unwrap();
    assert_eq!(store.read_log(lane("a"), 0, 9).await.unwrap().len(), 2);
}

/// Not a test: what a claimant can do that ignores whether the owner is alive.
#[tokio::test]
async fn unleased_victim() {
    let Ok(location) = std::env::var(PLACE) else { return };
    let store = open(&location).await;
    store.enqueue_message(lane("a"), message("k")).await.unwrap();
    store.claim_lane(lane("a"), Arc::from("w"), None).await.unwrap();
    store.record_heartbeat(Arc::from("w")).await.unwrap();
    store.claim_lane(lane("a"), Arc::from("v"), None).await.unwrap();
}
