//! A disk that becomes full during a run.

use windlass::RunOutcome;
use windlass::sqlite::{SqliteSettings, SqliteStore};

use crate::kit::{ProbeTool, start_windlass};

/// A script that calls `Look` until its rounds are used up.
const TALK: &str = "when any\n  call Look {\"n\": \"${ask}\"}\n";

// spec: STORE-11
#[tokio::test]
async fn a_run_goes_on_when_there_is_room_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    let small = SqliteSettings { max_pages: Some(48), ..SqliteSettings::default() };
    let probe = ProbeTool::read("Look");
    let store = SqliteStore::open_with(&path, &small).unwrap();
    let w = start_windlass(TALK, store, std::slice::from_ref(&probe)).await;
    let full = w.session("lane").send("go").await.unwrap().wait_for_end().await;
    let output = full.as_ref().err().map(ToString::to_string).unwrap_or_default();
    assert!(output.contains("is full") && output.contains("nothing was lost"), "{full:?}");
    let done = probe.run_count();
    assert!(done > 0 && done < 50, "{done}");
    drop(w);
    let store = SqliteStore::open(&path).unwrap();
    let w = start_windlass(TALK, store, std::slice::from_ref(&probe)).await;
    let RunOutcome::Finished(ended) =
        w.session("lane").resume().await.unwrap().wait_for_end().await.unwrap()
    else {
        panic!("it did not end");
    };
    assert_eq!(ended.counters.tool_rounds, 50, "no round was lost and none was done twice");
}
