//! A process dies and another one continues: on a real SQLite file, with the driver dropped at its
//! current step.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::Notify;
use windlass::core::log::input::ProbeResult;
use windlass::core::run::question::QuestionKind;
use windlass::sqlite::SqliteStore;
use windlass::{HumanAnswer, RunOutcome, StopCause, Windlass};

use crate::kit::{ProbeTool, pause, start_windlass, wait_until};

const ONE_CALL: &str = "when results 0\n  call Send {}\nwhen any\n  say \"sent\"\n";

async fn on(path: &Path, tools: &[ProbeTool]) -> Windlass {
    start_windlass(ONE_CALL, SqliteStore::open(path).unwrap(), tools).await
}

/// Runs until the tool runs and the reply that called it is stored, then drops the whole process
/// state. A call that only reads runs before its reply is recorded; if the reply is lost, another
/// reply makes the call.
fn die_in_the_middle(path: &Path, tool: &ProbeTool) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let w = on(path, std::slice::from_ref(tool)).await;
        let run = w.session("lane").send("go").await.unwrap();
        wait_until("the call runs", || tool.run_count() == 1).await;
        while w.session("lane").load_conversation().await.unwrap().run.unwrap().round().is_none() {
            pause(5).await;
        }
        run.detach();
    });
    runtime.shutdown_background();
}

fn in_a_new_process<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(future)
}

// spec: RESUME-06
// spec: FAULT-06, FAULT-07
#[test]
fn a_once_only_call_that_was_in_the_air_is_asked_about() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    die_in_the_middle(&path, &ProbeTool::once_only("Send").with_gate(&Arc::new(Notify::new())));
    in_a_new_process(async {
        let send = ProbeTool::once_only("Send");
        let w = on(&path, std::slice::from_ref(&send)).await;
        let session = w.session("lane");
        let RunOutcome::Parked(questions) =
            session.resume().await.unwrap().wait_for_end().await.unwrap()
        else {
            panic!("it must not guess");
        };
        assert!(matches!(questions[0].kind, QuestionKind::Uncertain { .. }));
        assert_eq!(send.run_count(), 0);
        let answer = HumanAnswer::MarkDone { text: Arc::from("it was sent") };
        session.answer(questions[0].id, answer).await.unwrap();
        let end = session.resume().await.unwrap().wait_for_end().await.unwrap();
        assert!(
            matches!(&end, RunOutcome::Finished(e) if e.cause == StopCause::EndTurn),
            "{end:?}"
        );
        assert_eq!(send.run_count(), 0, "marked done means not done again");
    });
}

// spec: RESUME-04
// spec: FAULT-06
#[test]
fn a_repeatable_call_is_simply_run_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    die_in_the_middle(&path, &ProbeTool::read("Send").with_gate(&Arc::new(Notify::new())));
    in_a_new_process(async {
        let send = ProbeTool::read("Send");
        let w = on(&path, std::slice::from_ref(&send)).await;
        let end = w.session("lane").resume().await.unwrap().wait_for_end().await.unwrap();
        assert!(matches!(&end, RunOutcome::Finished(e) if &*e.text == "sent"), "{end:?}");
        assert_eq!(send.run_count(), 1);
    });
}

// spec: RESUME-05
#[test]
fn a_tool_that_can_tell_is_asked_before_a_human() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    let result = ProbeResult::Happened { text: Arc::from("found in the outbox") };
    let tool = ProbeTool::once_only("Send").with_probe_result(result);
    die_in_the_middle(&path, &tool.clone().with_gate(&Arc::new(Notify::new())));
    in_a_new_process(async {
        let before = tool.run_count();
        let w = on(&path, std::slice::from_ref(&tool)).await;
        let end = w.session("lane").resume().await.unwrap().wait_for_end().await.unwrap();
        assert!(matches!(&end, RunOutcome::Finished(e) if &*e.text == "sent"), "{end:?}");
        assert_eq!(tool.run_count(), before, "it happened, so it does not happen again");
    });
}

#[test]
fn a_changed_tool_halts_the_run_until_a_human_says_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    die_in_the_middle(&path, &ProbeTool::read("Send").with_gate(&Arc::new(Notify::new())));
    in_a_new_process(async {
        let tools = [ProbeTool::read("Send"), ProbeTool::read("Another")];
        let w = on(&path, &tools).await;
        let session = w.session("lane");
        let RunOutcome::Parked(questions) =
            session.resume().await.unwrap().wait_for_end().await.unwrap()
        else {
            panic!("it must say that the tools changed");
        };
        assert!(matches!(questions[0].kind, QuestionKind::PromptChanged { .. }));
        assert_eq!(tools[0].run_count(), 0);
        session.answer(questions[0].id, HumanAnswer::Continue {}).await.unwrap();
        let end = session.resume().await.unwrap().wait_for_end().await.unwrap();
        assert!(matches!(&end, RunOutcome::Finished(e) if &*e.text == "sent"), "{end:?}");
    });
}

// spec: ROUNDS-11
#[test]
fn the_idempotency_key_names_run_and_call_and_stays_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    let first = ProbeTool::read("Send").with_gate(&Arc::new(Notify::new()));
    die_in_the_middle(&path, &first);
    in_a_new_process(async {
        let again = ProbeTool::read("Send");
        let w = on(&path, std::slice::from_ref(&again)).await;
        w.session("lane").resume().await.unwrap().wait_for_end().await.unwrap();
        let keys = |probe: &ProbeTool| probe.keys.lock().unwrap().clone();
        let (first, again) = (keys(&first), keys(&again));
        assert_eq!(first, again);
        let run = w.session("lane").load_conversation().await.unwrap().last_run_end.unwrap().run;
        let [key] = first.as_slice() else { panic!("{first:?}") };
        assert!(run.is_uuid() && key.starts_with(&format!("{run}:1.0:")), "{key} of {run}");
    });
}

/// A runtime that shuts down drops its tasks in any order. Here everything that `detach` may have
/// left running ends before the driver does.
#[test]
fn a_detached_run_goes_on_when_the_runtime_that_detached_it_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let gate = Arc::new(Notify::new());
    let send = ProbeTool::once_only("Send").with_gate(&gate);
    let driving = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let reading = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (session, run) = driving.block_on(async {
        let w = on(&dir.path().join("w.db"), std::slice::from_ref(&send)).await;
        let session = w.session("lane");
        let run = session.send("go").await.unwrap();
        wait_until("the call runs", || send.run_count() == 1).await;
        (session, run)
    });
    reading.block_on(async move { run.detach() });
    drop(reading);
    driving.block_on(async move {
        // Long enough for a cancel to be read.
        pause(100).await;
        gate.notify_one();
        let end = session.resume().await.unwrap().wait_for_end().await.unwrap();
        assert!(
            matches!(&end, RunOutcome::Finished(e) if e.cause == StopCause::EndTurn),
            "{end:?}"
        );
    });
}

// spec: STORE-10
#[tokio::test]
async fn a_second_process_queues_its_prompt_and_watches_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    let gate = Arc::new(Notify::new());
    let send = ProbeTool::once_only("Send").with_gate(&gate);
    let first = on(&path, std::slice::from_ref(&send)).await;
    let second = on(&path, &[ProbeTool::once_only("Send")]).await;
    let one = first.session("lane").send("go").await.unwrap();
    wait_until("the call runs", || send.run_count() == 1).await;
    let two = second.session("lane").send("and again").await.unwrap();
    gate.notify_one();
    assert!(matches!(one.wait_for_end().await.unwrap(), RunOutcome::Finished(_)));
    gate.notify_one();
    assert!(matches!(two.wait_for_end().await.unwrap(), RunOutcome::Finished(_)));
}
