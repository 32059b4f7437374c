//! What is recorded beside the log while a run is at work.

use std::sync::Arc;

use tokio::sync::Notify;
use windlass::DriveError;
use windlass::core::block::Block;
use windlass::core::ids::{Millis, RunId};
use windlass::memory::MemoryStore;
use windlass::ports::{Store, ToolStats};
use windlass::sqlite::SqliteStore;

use crate::kit::{Probe, eventually, pause, windlass};

const ONE_CALL: &str = "when results 0\n  call Look {}\nwhen any\n  say \"seen\"\n";

// spec: TRACE-07
#[tokio::test]
async fn a_call_that_runs_for_a_second_has_a_row() {
    let dir = tempfile::tempdir().unwrap();
    let outside = SqliteStore::open(dir.path().join("w.db")).unwrap();
    let gate = Arc::new(Notify::new());
    let look = Probe::read("Look").gated(&gate);
    let store = SqliteStore::open(dir.path().join("w.db")).unwrap();
    let w = windlass(ONE_CALL, store, std::slice::from_ref(&look)).await;
    let run = w.session("lane").send("go").await.unwrap();
    eventually("it runs", || look.count() == 1).await;
    pause(300).await;
    assert_eq!(outside.tool_stats(Millis(0)).await.unwrap(), [], "short calls cost no row");
    let row = |failed| ToolStats { tool: "Look".into(), calls: 1, attempts: 1, retried: 0, failed };
    for _ in 0..400 {
        if outside.tool_stats(Millis(0)).await.unwrap() == [row(0)] {
            break;
        }
        pause(10).await;
    }
    assert_eq!(outside.tool_stats(Millis(0)).await.unwrap(), [row(0)]);
    gate.notify_one();
    run.end().await.unwrap();
    assert_eq!(outside.tool_stats(Millis(0)).await.unwrap(), [row(0)], "it is the same call");
}

// spec: TRACE-02
#[tokio::test]
async fn a_run_must_be_named_by_a_uuid() {
    let w = windlass(ONE_CALL, MemoryStore::default(), &[Probe::read("Look")]).await;
    let session = w.session("lane");
    let refused = session.send_as(RunId::from("run-1"), vec![Block::text("go")]).await;
    let Err(DriveError::Store(error)) = refused else { panic!("it was taken") };
    assert_eq!(error.to_string(), "the run id `run-1` is not a UUID; mint one for every prompt");
    let run = RunId::derived("run-1");
    let stream = session.send_as(run.clone(), vec![Block::text("go")]).await.unwrap();
    assert_eq!(stream.run(), Some(&run));
    stream.end().await.unwrap();
}
