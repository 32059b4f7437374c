//! Readers of a run: its owner, and any number of followers.

use std::sync::Arc;

use tokio::sync::Notify;
use windlass::core::log::entry::Entry;
use windlass::memory::MemoryStore;
use windlass::{RunOutcome, StopCause, StreamItem};

use crate::kit::{ProbeTool, pause, start_windlass, wait_until, windlass_builder};

const TEN_ROUNDS: &str =
    "when ask 10+\n  say \"done\"\nwhen any\n  call Look {\"n\": \"${ask}\"}\n";

// spec: FEED-02
#[tokio::test]
async fn the_run_waits_for_a_slow_owner() {
    let probe = ProbeTool::read("Look");
    let script = "when ask 40+\n  say \"done\"\nwhen any\n  call Look {\"n\": \"${ask}\"}\n";
    let w = start_windlass(script, MemoryStore::default(), std::slice::from_ref(&probe)).await;
    let run = w.session("lane").send("go").await.unwrap();
    pause(150).await;
    let unread = probe.run_count();
    assert!(unread < 39, "the run went on without its reader: {unread} calls");
    assert!(matches!(run.wait_for_end().await.unwrap(), RunOutcome::Finished(_)));
    assert_eq!(probe.run_count(), 39);
}

// spec: LANES-11
#[tokio::test]
async fn dropping_the_owners_stream_cancels_the_run() {
    let gate = Arc::new(Notify::new());
    let probe = ProbeTool::read("Look").with_gate(&gate);
    let w = start_windlass(TEN_ROUNDS, MemoryStore::default(), std::slice::from_ref(&probe)).await;
    let session = w.session("lane");
    let run = session.send("go").await.unwrap();
    wait_until("the call runs", || probe.run_count() == 1).await;
    drop(run);
    pause(50).await;
    gate.notify_one();
    for _ in 0..200 {
        if session.load_conversation().await.unwrap().last_run_end.is_some() {
            break;
        }
        pause(10).await;
    }
    let end = session.load_conversation().await.unwrap().last_run_end.unwrap();
    assert_eq!(end.cause, StopCause::UserCancel);
    assert_eq!(probe.run_count(), 1);
}

#[tokio::test]
async fn a_detached_run_goes_on() {
    let probe = ProbeTool::read("Look");
    let w = start_windlass(TEN_ROUNDS, MemoryStore::default(), std::slice::from_ref(&probe)).await;
    let session = w.session("lane");
    session.send("go").await.unwrap().detach();
    wait_until("all rounds ran", || probe.run_count() == 9).await;
}

// spec: FEED-03
#[tokio::test]
async fn a_slow_reader_misses_nothing_and_sees_nothing_twice() {
    let probe = ProbeTool::read("Look");
    let script = "when ask 200+\n  say \"done\"\nwhen any\n  call Look {\"n\": \"${ask}\"}\n";
    let store = MemoryStore::default();
    let w = windlass_builder(script, store, std::slice::from_ref(&probe))
        .settings(|s| s.limits = s.limits.clone().with_tool_rounds(300))
        .start()
        .await
        .unwrap();
    let session = w.session("lane");
    let mut slow = session.subscribe(0);
    session.send("go").await.unwrap().wait_for_end().await.unwrap();
    let log = session.read_log().await.unwrap();
    let mut seen: Vec<Entry> = Vec::new();
    while seen.len() < log.len() {
        if let StreamItem::Entry(entry) = slow.next().await.unwrap() {
            seen.push(entry.as_ref().clone());
        }
    }
    assert_eq!(seen, log);
    assert!(log.len() > 256, "long enough to fall behind: {}", log.len());
}

// spec: FEED-09
#[tokio::test]
async fn there_is_exactly_one_end_and_it_comes_last() {
    let w = start_windlass(TEN_ROUNDS, MemoryStore::default(), &[ProbeTool::read("Look")]).await;
    let mut run = w.session("lane").send("go").await.unwrap();
    let mut items = Vec::new();
    while let Some(item) = run.next().await.unwrap() {
        items.push(item);
    }
    let ends = items.iter().filter(|item| matches!(item, StreamItem::RunEnded(_))).count();
    assert_eq!(ends, 1);
    assert!(matches!(items.last(), Some(StreamItem::RunEnded(_))));
}
