//! What is recorded beside the log during a run.

use std::sync::Arc;

use tokio::sync::Notify;
use windlass::DriveError;
use windlass::core::log::ids::{RunId, UnixMillis};
use windlass::core::message::content_block::ContentBlock;
use windlass::memory::MemoryStore;
use windlass::ports::{Store, ToolStats};
use windlass::sqlite::SqliteStore;

use crate::kit::{ProbeTool, pause, start_windlass, wait_until};

const ONE_CALL: &str = "when results 0\n  call Look {}\nwhen any\n  say \"seen\"\n";

// spec: TRACE-07
#[tokio::test]
async fn a_call_that_runs_for_a_second_has_a_row() {
    let dir = tempfile::tempdir().unwrap();
    let outside = SqliteStore::open(dir.path().join("w.db")).unwrap();
    let gate = Arc::new(Notify::new());
    let probe = ProbeTool::read("Look").with_gate(&gate);
    let store = SqliteStore::open(dir.path().join("w.db")).unwrap();
    let w = start_windlass(ONE_CALL, store, std::slice::from_ref(&probe)).await;
    let run = w.session("lane").send("go").await.unwrap();
    wait_until("it runs", || probe.run_count() == 1).await;
    pause(300).await;
    assert_eq!(outside.tool_stats(UnixMillis(0)).await.unwrap(), [], "short calls cost no row");
    let row = |failed| ToolStats { tool: "Look".into(), calls: 1, attempts: 1, retried: 0, failed };
    for _ in 0..400 {
        if outside.tool_stats(UnixMillis(0)).await.unwrap() == [row(0)] {
            break;
        }
        pause(10).await;
    }
    assert_eq!(outside.tool_stats(UnixMillis(0)).await.unwrap(), [row(0)]);
    gate.notify_one();
    run.wait_for_end().await.unwrap();
    assert_eq!(outside.tool_stats(UnixMillis(0)).await.unwrap(), [row(0)], "it is the same call");
}

// spec: TRACE-02
#[tokio::test]
async fn a_run_must_be_named_by_a_uuid() {
    let w = start_windlass(ONE_CALL, MemoryStore::default(), &[ProbeTool::read("Look")]).await;
    let session = w.session("lane");
    let refused = session.send_as(RunId::from("run-1"), vec![ContentBlock::text("go")]).await;
    let Err(DriveError::Store(error)) = refused else { panic!("it was taken") };
    assert_eq!(
        error.to_string(),
        "the run id `run-1` is not a UUID; create a new one for every prompt"
    );
    let run = RunId::from_name("run-1");
    let stream = session.send_as(run.clone(), vec![ContentBlock::text("go")]).await.unwrap();
    assert_eq!(stream.run(), Some(&run));
    stream.wait_for_end().await.unwrap();
}
