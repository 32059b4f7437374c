//! Cancel and abort against a real driver.

use std::sync::Arc;

use tokio::sync::Notify;
use windlass::core::call::outcome::OutcomeKind;
use windlass::core::log::record::{Record, RecordedResult};
use windlass::memory::MemoryStore;
use windlass::{RunOutcome, StopCause};

use crate::kit::{ProbeTool, start_windlass, wait_until};

fn cause(end: &RunOutcome) -> StopCause {
    match end {
        RunOutcome::Finished(ended) => ended.cause,
        other => panic!("not finished: {other:?}"),
    }
}

// spec: LANES-08
#[tokio::test]
async fn a_cancel_lets_the_running_tool_finish() {
    let gate = Arc::new(Notify::new());
    let send = ProbeTool::once_only("Send").with_gate(&gate);
    let script = "when results 0\n  call Send {}\n  call Send {}\nwhen any\n  say \"sent\"\n";
    let w = start_windlass(script, MemoryStore::default(), std::slice::from_ref(&send)).await;
    let session = w.session("lane");
    let run = session.send("go").await.unwrap();
    wait_until("the first call runs", || send.run_count() == 1).await;
    session.cancel(None).await.unwrap();
    gate.notify_one();
    assert_eq!(cause(&run.wait_for_end().await.unwrap()), StopCause::UserCancel);
    assert_eq!(send.run_count(), 1, "the second call never starts");
    let log = session.read_log().await.unwrap();
    let settled: Vec<OutcomeKind> =
        log.iter().flat_map(|e| &e.records).filter_map(outcome).collect();
    assert_eq!(settled.len(), 2);
    assert!(settled.contains(&OutcomeKind::Done) && settled.contains(&OutcomeKind::Skipped));
}

fn outcome(record: &Record) -> Option<OutcomeKind> {
    match record {
        Record::ResultFinalized { result: RecordedResult::Unchanged {}, .. } => {
            Some(OutcomeKind::Done)
        }
        Record::ResultFinalized { result: RecordedResult::Replaced(shown), .. } => Some(shown.kind),
        _ => None,
    }
}

// spec: LANES-10
#[tokio::test]
async fn an_abort_interrupts_a_hanging_tool_and_says_so() {
    let gate = Arc::new(Notify::new());
    let send = ProbeTool::once_only("Send").with_gate(&gate);
    let w = start_windlass(
        "when any\n  call Send {}\n",
        MemoryStore::default(),
        std::slice::from_ref(&send),
    )
    .await;
    let session = w.session("lane");
    let run = session.send("go").await.unwrap();
    wait_until("the call runs", || send.run_count() == 1).await;
    session.abort(None).await.unwrap();
    assert_eq!(cause(&run.wait_for_end().await.unwrap()), StopCause::UserCancel);
    let log = session.read_log().await.unwrap();
    let settled: Vec<OutcomeKind> =
        log.iter().flat_map(|e| &e.records).filter_map(outcome).collect();
    assert_eq!(settled, [OutcomeKind::Interrupted]);
}

#[tokio::test]
async fn an_abort_ends_a_hanging_model_call() {
    let w =
        start_windlass("when any\n  delay 1m\n  say \"late\"\n", MemoryStore::default(), &[]).await;
    let session = w.session("lane");
    let run = session.send("go").await.unwrap();
    session.abort(None).await.unwrap();
    assert_eq!(cause(&run.wait_for_end().await.unwrap()), StopCause::UserCancel);
}

// spec: LANES-07
#[tokio::test]
async fn a_cancel_between_two_model_attempts_is_seen_at_once() {
    let w = start_windlass("when any\n  fail 529\n", MemoryStore::default(), &[]).await;
    let session = w.session("lane");
    let run = session.send("go").await.unwrap();
    session.cancel(None).await.unwrap();
    assert_eq!(cause(&run.wait_for_end().await.unwrap()), StopCause::UserCancel);
}
