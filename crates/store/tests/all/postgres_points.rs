//! Dying at every write boundary. The victim is this same test binary, started again with one of
//! the crash points armed: without the feature there is nothing to die of.
#![cfg(feature = "faults")]

use std::process::{Command, ExitStatus};
use std::sync::Arc;

use windlass_runtime::ports::{Store, StoreError};
use windlass_store::{PostgresStore, fault};

use crate::kit::{barrier, lane, letter, step};
use crate::postgres_kit::{database, open};

const PLACE: &str = "WINDLASS_TEST_DATABASE";

/// Not a test: what the victim does.
#[tokio::test]
async fn victim() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let store = open(&place).await;
    store.beat(Arc::from("w")).await.unwrap();
    store.deliver(lane("a"), letter("k")).await.unwrap();
    let claim = store.claim(lane("a"), Arc::from("w"), None).await.unwrap();
    for head in 0..3 {
        let step = if head == 1 { barrier } else { step };
        store.append(step("a", claim.epoch, head, "x")).await.unwrap();
    }
    store.release(lane("a"), claim.epoch).await.unwrap();
}

#[expect(clippy::disallowed_methods, reason = "somebody has to die")]
fn run_victim(name: &str, place: &str, variable: &str, value: &str) -> ExitStatus {
    let mut victim = Command::new(std::env::current_exe().unwrap());
    victim.args(["--exact", &format!("postgres_points::{name}")]);
    victim.env(PLACE, place).env(variable, value);
    victim.output().unwrap().status
}

#[tokio::test]
async fn every_crash_point_leaves_a_sound_store() {
    for point in fault::POINTS {
        let url = database().await;
        let status = run_victim("victim", &url, "WINDLASS_FAULT", &format!("{point}:1"));
        assert!(!status.success(), "nobody died at {point}");
        let store = open(&url).await;
        store.deliver(lane("a"), letter("k")).await.unwrap();
        assert_eq!(store.read_mail(lane("a"), 9).await.unwrap().len(), 1, "{point}");
        let head = store.lane(lane("a")).await.unwrap().unwrap().head;
        assert_eq!(store.read_log(lane("a"), 0, 9).await.unwrap().len() as u64, head, "{point}");
        let wanted = match *point {
            fault if fault.starts_with("release") => 3,
            "append.after_commit" | "append.after_reply" => 1,
            _ => 0,
        };
        // After its reply the victim may get on before it dies.
        let near = *point == "append.after_reply" && head >= wanted;
        assert!(head == wanted || near, "{point}: {head}");
        take(&store).await;
    }
}

/// Whoever comes next can go on.
async fn take(store: &PostgresStore) {
    let dead = match store.claim(lane("a"), Arc::from("v"), None).await {
        Err(StoreError::Busy { owner, .. }) => Some(owner),
        other => return drop(other.unwrap()),
    };
    store.claim(lane("a"), Arc::from("v"), dead).await.unwrap();
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
    let Ok(place) = std::env::var(PLACE) else { return };
    let store = open(&place).await;
    store.deliver(lane("a"), letter("k")).await.unwrap();
    store.append(step("a", 77, 0, "stale")).await.unwrap();
    store.append(step("a", 76, 0, "staler")).await.unwrap();
    assert_eq!(store.read_log(lane("a"), 0, 9).await.unwrap().len(), 2);
}

/// Not a test: what a claimant can do that does not care whether the owner lives.
#[tokio::test]
async fn unleased_victim() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let store = open(&place).await;
    store.deliver(lane("a"), letter("k")).await.unwrap();
    store.claim(lane("a"), Arc::from("w"), None).await.unwrap();
    store.beat(Arc::from("w")).await.unwrap();
    store.claim(lane("a"), Arc::from("v"), None).await.unwrap();
}
