//! Crashing at every write boundary. The victim is this same test binary, started again with one of
//! the crash points armed: without the feature there are none.
#![cfg(feature = "faults")]

use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Arc;

use windlass_core::log::ids::UnixMillis;
use windlass_runtime::ports::Store;
use windlass_store::{SqliteStore, crash_points};

use crate::kit::points::{check_sound_after, run_to_crash_point};
use crate::kit::running_job::start_job;
use crate::kit::{append_one, file, folder, lane, message, open};

const PLACE: &str = "WINDLASS_TEST_PLACE";

/// Not a test: the code of the victim.
#[tokio::test]
async fn victim() {
    let Some(path) = std::env::var_os(PLACE) else { return };
    let store = SqliteStore::open(path).unwrap();
    run_to_crash_point(&store).await;
}

#[expect(clippy::disallowed_methods, reason = "somebody has to die")]
fn run_victim(path: &Path, variable: &str, value: &str) -> ExitStatus {
    let mut victim = Command::new(std::env::current_exe().unwrap());
    victim.args(["--exact", "sqlite_faults::victim"]).env(PLACE, path).env(variable, value);
    victim.output().unwrap().status
}

// spec: FAULT-01, FAULT-02, FAULT-03, FAULT-10
#[tokio::test]
async fn every_crash_point_leaves_a_sound_store() {
    for point in crash_points::CRASH_POINTS {
        let folder = folder();
        let status = run_victim(&file(&folder), "WINDLASS_FAULT", &format!("{point}:1"));
        assert!(!status.success(), "nobody died at {point}");
        let store = open(&folder);
        store.check().await.unwrap();
        check_sound_after(point, &store).await;
    }
}

/// Not a test: the code of a victim whose rows lag behind their entries.
#[tokio::test]
async fn lagging_victim() {
    let Some(path) = std::env::var_os(PLACE) else { return };
    let store = SqliteStore::open(path).unwrap();
    let mut job = start_job(&store, "a", 3).await;
    store.append(job.end()).await.unwrap();
}

/// A crash while the rows are written to their tables leaves them where they were, and the next
/// process writes them.
#[tokio::test]
async fn lagging_rows_survive_a_crash_while_they_are_written() {
    for point in crash_points::SQLITE_CRASH_POINTS {
        let folder = folder();
        let status = run_victim_to(&file(&folder), "lagging_victim", point);
        assert!(!status.success(), "nobody died at {point}");
        let store = open(&folder);
        store.check().await.unwrap();
        assert_eq!(store.lane_info(lane("a")).await.unwrap().unwrap().head, 7);
        let count = || {
            let raw = rusqlite::Connection::open(file(&folder)).unwrap();
            let query = "SELECT count(*) FROM agent_tool_results";
            raw.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap()
        };
        assert_eq!(count(), 0);
        let stats = store.tool_stats(UnixMillis(0)).await.unwrap();
        assert_eq!((stats[0].calls, count()), (6, 6));
    }
}

#[tokio::test]
async fn the_second_hit_can_be_chosen() {
    let folder = folder();
    assert!(!run_victim(&file(&folder), "WINDLASS_FAULT", "append.before_commit:3").success());
    assert_eq!(open(&folder).lane_info(lane("a")).await.unwrap().unwrap().head, 2);
    let folder = crate::kit::folder();
    assert!(run_victim(&file(&folder), "WINDLASS_FAULT", "append.before_commit:4").success());
}

#[test]
fn a_broken_lease_lets_anybody_claim() {
    let folder = folder();
    assert!(run_broken(&file(&folder), "unleased_victim", "lease").success());
}

/// Not a test: what a claimant can do that ignores whether the owner is alive.
#[tokio::test]
async fn unleased_victim() {
    let Some(path) = std::env::var_os(PLACE) else { return };
    let store = SqliteStore::open(path).unwrap();
    store.enqueue_message(lane("a"), message("k")).await.unwrap();
    store.claim_lane(lane("a"), Arc::from("w"), None).await.unwrap();
    store.record_heartbeat(Arc::from("w")).await.unwrap();
    store.claim_lane(lane("a"), Arc::from("v"), None).await.unwrap();
}

#[test]
fn a_broken_fence_lets_the_wrong_owner_write() {
    let folder = folder();
    let path = file(&folder);
    let status = run_broken(&path, "unfenced_victim", "fence");
    assert!(status.success());
}

#[expect(clippy::disallowed_methods, reason = "somebody has to die")]
fn run_victim_to(path: &Path, name: &str, point: &str) -> ExitStatus {
    let mut victim = Command::new(std::env::current_exe().unwrap());
    victim.args(["--exact", &format!("sqlite_faults::{name}")]);
    victim.env(PLACE, path).env("WINDLASS_FAULT", format!("{point}:1"));
    victim.output().unwrap().status
}

#[expect(clippy::disallowed_methods, reason = "the switch is read once per process")]
fn run_broken(path: &Path, name: &str, broken: &str) -> ExitStatus {
    let mut victim = Command::new(std::env::current_exe().unwrap());
    victim.args(["--exact", &format!("sqlite_faults::{name}")]);
    victim.env(PLACE, path).env("WINDLASS_BREAK", broken);
    victim.output().unwrap().status
}

/// Not a test: what an owner without a fence can do.
#[tokio::test]
async fn unfenced_victim() {
    let Some(path) = std::env::var_os(PLACE) else { return };
    let store = SqliteStore::open(path).unwrap();
    store.enqueue_message(lane("a"), message("k")).await.unwrap();
    store.append(append_one("a", 77, 0, "stale")).await.unwrap();
    store.append(append_one("a", 76, 0, "staler")).await.unwrap();
    assert_eq!(store.read_log(lane("a"), 0, 9).await.unwrap().len(), 2);
}

// spec: FAULT-23, STORE-11
#[tokio::test]
async fn a_failed_sync_is_the_end() {
    let folder = folder();
    assert!(run_broken(&file(&folder), "unsynced_victim", "sync").success());
    // The next process finds what is on the disk, and continues.
    let store = open(&folder);
    store.check().await.unwrap();
    store.enqueue_message(lane("a"), message("k2")).await.unwrap();
}

/// Not a test: a store whose disk cannot be synced.
#[tokio::test]
async fn unsynced_victim() {
    let Some(path) = std::env::var_os(PLACE) else { return };
    let store = SqliteStore::open(path).unwrap();
    for key in ["k", "again"] {
        let error = store.enqueue_message(lane("a"), message(key)).await.unwrap_err();
        assert!(error.to_string().contains("sync failed"), "{error}");
    }
    let error = store.record_heartbeat(Arc::from("w")).await.unwrap_err();
    assert!(error.to_string().contains("sync failed"), "{error}");
}
