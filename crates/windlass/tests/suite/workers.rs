//! Workers: hosts that drive every runnable lane, on one SQLite file.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use windlass::core::log::ids::{LaneId, RunId};
use windlass::core::log::inbox::InboxCommand;
use windlass::core::message::content_block::ContentBlock;
use windlass::core::settings::limits::RunTimeLimits;
use windlass::memory::MemoryStore;
use windlass::ports::{OutboxMessage, ResumeOverride, Store};
use windlass::sqlite::SqliteStore;
use windlass::{RunOutcome, StopCause, Windlass, WorkerSettings};

use crate::kit::{ProbeTool, pause, wait_until, windlass_builder};

const ONE_CALL: &str = "when results 0\n  call Look {}\nwhen any\n  say \"seen\"\n";

pub(crate) const TIMES: WorkerSettings = WorkerSettings {
    busy_poll_ms: 10,
    idle_poll_ms: 40,
    reconcile_interval_ms: 1_000,
    hand_over_timeout_ms: 5_000,
    resume: ResumeOverride::Immediately,
};

pub(crate) async fn on(path: &Path, probe: &ProbeTool) -> Windlass {
    let store = SqliteStore::open(path).unwrap();
    windlass_builder(ONE_CALL, store, std::slice::from_ref(probe)).start().await.unwrap()
}

/// What a front end does that drives nothing itself.
pub(crate) async fn send(store: &dyn Store, lane: &str) {
    let run = RunId::from_name(lane);
    let body = InboxCommand::prompt(run, vec![ContentBlock::text("go")]);
    let message = OutboxMessage { idempotency_key: Arc::from(lane), body };
    store.enqueue_message(LaneId::from(lane), message).await.unwrap();
}

async fn finished_run_count(store: &dyn Store) -> usize {
    let runs = store.list_runs(None, 1_000).await.unwrap();
    runs.iter().filter(|run| run.text.as_deref() == Some("seen")).count()
}

async fn all_finish(store: &dyn Store, limit: usize) {
    for _ in 0..1_000 {
        if finished_run_count(store).await == limit {
            return;
        }
        pause(10).await;
    }
    panic!("only {} of {limit} ended", finished_run_count(store).await);
}

pub(crate) fn process() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

// spec: SCALE-07
#[tokio::test]
async fn mail_from_elsewhere_is_driven_by_whoever_works() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    let probe = ProbeTool::read("Look");
    let w = on(&path, &probe).await;
    let working = tokio::spawn({
        let w = w.clone();
        async move { w.run_worker_with(TIMES).await }
    });
    let outside = SqliteStore::open(&path).unwrap();
    for nth in 0..20 {
        send(&outside, &format!("lane-{nth}")).await;
    }
    all_finish(&outside, 20).await;
    assert_eq!(probe.run_count(), 20);
    w.hand_over();
    working.await.unwrap().unwrap();
}

// spec: STORE-04
#[tokio::test]
async fn lanes_whose_claim_nobody_heard_of_are_driven_all_the_same() {
    let store = Arc::new(MemoryStore::default());
    let probe = ProbeTool::read("Look");
    let w = windlass_builder(ONE_CALL, MemoryStore::default(), std::slice::from_ref(&probe))
        .shared_store(Arc::clone(&store) as Arc<dyn Store>)
        .start()
        .await
        .unwrap();
    for nth in 0..5 {
        send(store.as_ref(), &format!("lane-{nth}")).await;
    }
    store.lose_next_claim_response();
    let working = tokio::spawn({
        let w = w.clone();
        async move { w.run_worker_with(TIMES).await }
    });
    all_finish(store.as_ref(), 5).await;
    assert_eq!(probe.run_count(), 5);
    w.hand_over();
    working.await.unwrap().unwrap();
}

// spec: SCALE-03
#[test]
#[expect(clippy::disallowed_methods, reason = "the test measures how long it takes")]
fn what_a_dead_worker_had_goes_on_elsewhere_and_nothing_is_lost_or_done_twice() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    let outside = SqliteStore::open(&path).unwrap();
    let hung = ProbeTool::read("Look").with_gate(&Arc::new(Notify::new()));
    let (dying, living) = (process(), process());
    dying.block_on(async {
        let w = on(&path, &hung).await;
        tokio::spawn(async move { w.run_worker_with(TIMES).await });
        for nth in 0..10 {
            send(&outside, &format!("lane-{nth}")).await;
        }
        wait_until("all of them hang", || hung.run_count() == 10).await;
    });
    let probe = ProbeTool::read("Look");
    let w = living.block_on(on(&path, &probe));
    let working = living.spawn({
        let w = w.clone();
        async move { w.run_worker_with(TIMES).await }
    });
    living.block_on(pause(200));
    assert_eq!(probe.run_count(), 0, "a worker that beats keeps its lanes, however long they take");
    // Dropped without releasing anything, as after kill -9.
    let died = Instant::now();
    dying.shutdown_background();
    living.block_on(all_finish(&outside, 10));
    assert!(died.elapsed() < Duration::from_secs(15), "{:?}", died.elapsed());
    assert_eq!(probe.run_count(), 10);
    w.hand_over();
    living.block_on(working).unwrap().unwrap();
}

// spec: FAULT-52
#[test]
#[expect(clippy::disallowed_methods, reason = "the test measures how long it takes")]
fn a_worker_that_is_told_to_hands_over_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    let outside = SqliteStore::open(&path).unwrap();
    let hung = ProbeTool::read("Look").with_gate(&Arc::new(Notify::new()));
    let (first, second) = (process(), process());
    let leaving = first.block_on(on(&path, &hung));
    let working = first.spawn({
        let w = leaving.clone();
        async move { w.run_worker_with(TIMES).await }
    });
    first.block_on(async {
        for nth in 0..10 {
            send(&outside, &format!("lane-{nth}")).await;
        }
        wait_until("all of them hang", || hung.run_count() == 10).await;
    });
    let probe = ProbeTool::read("Look");
    let staying = second.block_on(on(&path, &probe));
    second.spawn({
        let w = staying.clone();
        async move { w.run_worker_with(TIMES).await }
    });
    let told = Instant::now();
    leaving.hand_over();
    first.block_on(working).unwrap().unwrap();
    second.block_on(all_finish(&outside, 10));
    assert!(told.elapsed() < Duration::from_secs(8), "{:?}", told.elapsed());
    assert_eq!(probe.run_count(), 10);
    staying.hand_over();
}

#[tokio::test]
async fn two_workers_share_the_work_and_no_lane_has_two() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    let probe = ProbeTool::once_only("Look");
    let both = [on(&path, &probe).await, on(&path, &probe).await];
    for w in &both {
        let w = w.clone();
        tokio::spawn(async move { w.run_worker_with(TIMES).await });
    }
    let outside = SqliteStore::open(&path).unwrap();
    for nth in 0..50 {
        send(&outside, &format!("lane-{nth}")).await;
    }
    all_finish(&outside, 50).await;
    assert_eq!(probe.run_count(), 50, "each was called exactly once");
    both.iter().for_each(Windlass::hand_over);
}

#[test]
fn a_worker_brings_back_a_family_that_died_together() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    let script = r#"
when user is "go" and results 0
  call Agent {"description": "d", "prompt": "look"}
when user is "look" and results 0
  call Look {}
when any
  say "seen"
"#;
    let outside = SqliteStore::open(&path).unwrap();
    let hung = ProbeTool::read("Look").with_gate(&Arc::new(Notify::new()));
    let dying = process();
    dying.block_on(async {
        let store = SqliteStore::open(&path).unwrap();
        let tools = [hung.clone()];
        let w = windlass_builder(script, store, &tools).enable_sub_agents().start().await.unwrap();
        tokio::spawn(async move { w.run_worker_with(TIMES).await });
        send(&outside, "lane").await;
        wait_until("the child looks", || hung.run_count() == 1).await;
    });
    dying.shutdown_background();
    process().block_on(async {
        let probe = ProbeTool::read("Look");
        let store = SqliteStore::open(&path).unwrap();
        let w = windlass_builder(script, store, std::slice::from_ref(&probe))
            .enable_sub_agents()
            .start()
            .await
            .unwrap();
        tokio::spawn(async move { w.run_worker_with(TIMES).await });
        all_finish(&outside, 2).await;
        assert_eq!(probe.run_count(), 1);
    });
}

// spec: SCALE-10
/// A worker that was told to stop lets the call in progress finish, starts nothing new, and the
/// next worker continues with its result: no question about its outcome is asked.
#[tokio::test]
async fn a_call_in_progress_finishes_before_the_lane_is_handed_over() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    let gate = Arc::new(Notify::new());
    let probe = ProbeTool::once_only("Look").with_gate(&gate);
    let first = on(&path, &probe).await;
    let working = tokio::spawn({
        let first = first.clone();
        async move { first.run_worker_with(TIMES).await }
    });
    let outside = SqliteStore::open(&path).unwrap();
    send(&outside, "lane").await;
    wait_until("the call runs", || probe.run_count() == 1).await;
    first.hand_over_within(60_000);
    pause(100).await;
    assert!(!working.is_finished(), "it waits for the call");
    gate.notify_one();
    working.await.unwrap().unwrap();
    let lane = outside.lane_info(LaneId::from("lane")).await.unwrap().unwrap();
    assert!(lane.owner.is_none() && lane.active_run.is_some(), "{lane:?}");
    let next = ProbeTool::once_only("Look");
    let second = on(&path, &next).await;
    second.session("lane").resume().await.unwrap().wait_for_end().await.unwrap();
    assert_eq!(
        (finished_run_count(&outside).await, probe.run_count(), next.run_count()),
        (1, 1, 0)
    );
}

/// A call that takes longer than the grace period is left as after a crash.
#[tokio::test]
async fn nobody_waits_longer_than_the_grace_period() {
    let dir = tempfile::tempdir().unwrap();
    let probe = ProbeTool::once_only("Look").with_gate(&Arc::new(Notify::new()));
    let w = on(&dir.path().join("w.db"), &probe).await;
    let working = tokio::spawn({
        let w = w.clone();
        async move { w.run_worker_with(TIMES).await }
    });
    let outside = SqliteStore::open(dir.path().join("w.db")).unwrap();
    send(&outside, "lane").await;
    wait_until("the call runs", || probe.run_count() == 1).await;
    w.hand_over_within(50);
    working.await.unwrap().unwrap();
    assert!(outside.lane_info(LaneId::from("lane")).await.unwrap().unwrap().owner.is_none());
}

// spec: SCALE-11
/// The reader of this stream never reads, so its driver waits for ever and checks no time limit.
/// The process continues to send heartbeats: only the watchdog can end the run.
#[tokio::test]
async fn a_stuck_driver_is_replaced_and_the_run_ends_at_its_hard_limit() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path().join("w.db")).unwrap();
    let probe = ProbeTool::read("Look");
    let w = windlass_builder("when any\n  call Look {}\n", store, std::slice::from_ref(&probe))
        .settings(|settings| {
            settings.times = Some(RunTimeLimits { soft_ms: 700, hard_ms: 1_000, grace_ms: 0 });
            settings.limits.tool_rounds = 500;
        })
        .start()
        .await
        .unwrap();
    let unread = w.session("lane").send("go").await.unwrap();
    let outside = SqliteStore::open(dir.path().join("w.db")).unwrap();
    for _ in 0..2_000 {
        let runs = outside.list_runs(None, 1).await.unwrap();
        if let Some(cause) = runs.first().and_then(|run| run.cause) {
            assert!(matches!(cause, StopCause::HardTime | StopCause::SoftTime), "{cause:?}");
            let end = unread.wait_for_end().await.unwrap();
            assert!(matches!(&end, RunOutcome::Finished(ended) if ended.cause == cause), "{end:?}");
            return;
        }
        pause(10).await;
    }
    panic!("the run never ended");
}
