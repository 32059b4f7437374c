//! Child runs: started by a call, each on a lane of its own; their results are returned as
//! messages.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::Notify;
use windlass::core::budget::spending::SpendingCaps;
use windlass::core::log::record::Record;
use windlass::memory::MemoryStore;
use windlass::sqlite::SqliteStore;
use windlass::{AgentDefinition, HumanAnswer, RunOutcome, StopCause, Windlass};

use crate::kit::{ProbeTool, wait_until, windlass_builder};

/// The parent delegates a task and repeats the result; the child run does it with `Dig`.
const ONE_CHILD: &str = r#"
when user is "go" and results 0
  call Agent {"description": "dig", "prompt": "dig for gold"}
when user is "go"
  say "they say: ${result}"
when user is "dig for gold" and results 0
  call Dig {}
when any
  say "gold: ${result}"
"#;

const CHILD: &str = "lane/1.0-0";

fn text(end: &RunOutcome) -> String {
    match end {
        RunOutcome::Finished(ended) => ended.text.to_string(),
        other => format!("{other:?}"),
    }
}

async fn run(w: &Windlass, prompt: &str) -> RunOutcome {
    w.session("lane").send(prompt).await.unwrap().wait_for_end().await.unwrap()
}

// spec: CHILDREN-02
#[tokio::test]
async fn a_child_does_a_task_and_only_its_answer_returns() {
    let dig = ProbeTool::once_only("Dig");
    let tools = [dig.clone()];
    let w = windlass_builder(ONE_CHILD, MemoryStore::new(), &tools)
        .enable_sub_agents()
        .start()
        .await
        .unwrap();
    assert_eq!(text(&run(&w, "go").await), "they say: gold: probed");
    assert_eq!(dig.run_count(), 1);
    let child = w.session(CHILD).load_conversation().await.unwrap();
    assert_eq!(child.parent.as_ref().map(|parent| parent.depth), Some(1));
    assert_eq!(child.settings.map(|settings| settings.depth), Some(1));
    let parent = w.session("lane").load_conversation().await.unwrap();
    assert!(child.spent.tokens > 0);
    assert!(parent.spent.tokens > child.spent.tokens, "what the child spent is the parent's");
}

const TWO: &str = r#"
when user is "go" and results 0
  call spawn_child_runs {"tasks": [{"prompt": "one"}, {"prompt": "two", "agent": "poet"}]}
when user is "go"
  say "${result}"
when user is "one"
  delay 50ms
  say "first"
when user is "two" and tools include Dig
  say "I may dig"
when user is "two"
  say "second"
"#;

// spec: CHILDREN-01, CHILDREN-03
#[tokio::test]
async fn several_children_answer_in_the_order_of_their_tasks_with_their_own_tools() {
    let tools = [ProbeTool::once_only("Dig")];
    let poet =
        AgentDefinition::new("writes").system_prompt("you are a poet").tools(&["Write", "Read"]);
    let w = windlass_builder(TWO, MemoryStore::new(), &tools)
        .sub_agent("poet", poet)
        .start()
        .await
        .unwrap();
    assert_eq!(text(&run(&w, "go").await), "[1] first\n\n[2] second");
    let poet = w.session("lane/1.0-1").load_conversation().await.unwrap().settings.unwrap();
    assert_eq!(&*poet.agent, "poet");
    assert_eq!(&*poet.system, "you are a poet");
    assert!(poet.tools.is_empty(), "its parent has neither of its tools");
}

#[tokio::test]
async fn a_child_may_spend_its_share_and_no_more() {
    let w = windlass_builder(ONE_CHILD, MemoryStore::new(), &[ProbeTool::once_only("Dig")])
        .enable_sub_agents()
        .settings(|settings| {
            settings.budget.run = SpendingCaps { tokens: Some(20_000), usd_micros: None };
        })
        .start()
        .await
        .unwrap();
    run(&w, "go").await;
    let child = w.session(CHILD).load_conversation().await.unwrap().settings.unwrap();
    let granted = child.budget.run.tokens.unwrap();
    assert!(granted < 10_000, "{granted} is more than half of what the parent had left");
}

// spec: CHILDREN-05
#[tokio::test]
async fn a_cancelled_parent_takes_its_children_with_it() {
    let gate = Arc::new(Notify::new());
    let dig = ProbeTool::once_only("Dig").with_gate(&gate);
    let tools = [dig.clone()];
    let w = windlass_builder(ONE_CHILD, MemoryStore::new(), &tools)
        .enable_sub_agents()
        .start()
        .await
        .unwrap();
    let session = w.session("lane");
    let stream = session.send("go").await.unwrap();
    let ending = tokio::spawn(stream.wait_for_end());
    wait_until("the child digs", || dig.run_count() == 1).await;
    session.cancel(None).await.unwrap();
    let cancelled =
        || async { w.session(CHILD).load_conversation().await.unwrap().run.unwrap().stop_request };
    while cancelled().await.is_none() {
        tokio::task::yield_now().await;
    }
    gate.notify_one();
    let end = ending.await.unwrap().unwrap();
    assert!(matches!(&end, RunOutcome::Finished(e) if e.cause == StopCause::UserCancel), "{end:?}");
    let child = w.session(CHILD).load_conversation().await.unwrap();
    assert_eq!(child.last_run_end.unwrap().cause, StopCause::UserCancel);
}

#[tokio::test]
async fn a_dropped_stream_cancels_also_a_run_that_waits_for_its_children() {
    let gate = Arc::new(Notify::new());
    let dig = ProbeTool::once_only("Dig").with_gate(&gate);
    let tools = [dig.clone()];
    let w = windlass_builder(ONE_CHILD, MemoryStore::new(), &tools)
        .enable_sub_agents()
        .start()
        .await
        .unwrap();
    let session = w.session("lane");
    let mut stream = session.send("go").await.unwrap();
    while dig.run_count() == 0 {
        let _ = tokio::time::timeout(std::time::Duration::from_millis(20), stream.next()).await;
    }
    drop(stream);
    let stopping = || async {
        session.load_conversation().await.unwrap().run.is_some_and(|r| r.stop_request.is_some())
    };
    while !stopping().await {
        tokio::task::yield_now().await;
    }
    gate.notify_one();
}

const ASKS: &str = r#"
when user is "go" and results 0
  call Agent {"description": "ask", "prompt": "ask for leave"}
when user is "go"
  say "they say: ${result}"
when user is "ask for leave" and results 0
  call Dig {}
when any
  say "done: ${result}"
"#;

#[tokio::test]
async fn a_question_of_a_child_reaches_whoever_runs_the_parent() {
    let dig = ProbeTool::once_only("Dig");
    let tools = [dig.clone()];
    let w = windlass_builder(ASKS, MemoryStore::new(), &tools)
        .enable_sub_agents()
        .settings(|settings| settings.rules.default_decision = Default::default())
        .allow("Agent")
        .start()
        .await
        .unwrap();
    let session = w.session("lane");
    let end = session.send("go").await.unwrap().wait_for_end().await.unwrap();
    assert_eq!(end, RunOutcome::Parked(Vec::new()));
    let questions = session.child_questions().await.unwrap().unwrap();
    let [(lane, question)] = questions.as_slice() else { panic!("{questions:?}") };
    assert_eq!(lane.as_str(), CHILD);
    let child = w.session(lane.clone());
    child.answer(question.id, HumanAnswer::allow()).await.unwrap();
    child.resume().await.unwrap().detach();
    let end = session.resume().await.unwrap().wait_for_end().await.unwrap();
    assert_eq!(text(&end), "they say: done: probed");
}

async fn on(path: &Path, dig: &ProbeTool) -> Windlass {
    let store = SqliteStore::open(path).unwrap();
    windlass_builder(ONE_CHILD, store, std::slice::from_ref(dig))
        .enable_sub_agents()
        .start()
        .await
        .unwrap()
}

fn process() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
}

/// The process ends while both are in flight, the child run in its tool.
fn crash_parent_and_child(path: &Path, dig: &ProbeTool) {
    let runtime = process();
    let gated = dig.clone().with_gate(&Arc::new(Notify::new()));
    runtime.block_on(async {
        let w = on(path, &gated).await;
        w.session("lane").send("go").await.unwrap().detach();
        wait_until("the child digs", || gated.run_count() == 1).await;
    });
    runtime.shutdown_background();
}

async fn message_counts(w: &Windlass) -> (usize, usize) {
    async fn count(w: &Windlass, lane: &str, wanted: fn(&Record) -> bool) -> usize {
        let log = w.session(lane).read_log().await.unwrap();
        log.iter().flat_map(|entry| &entry.records).filter(|record| wanted(record)).count()
    }
    let tasks = count(w, CHILD, |record| matches!(record, Record::ParentAssigned { .. })).await;
    let homes =
        count(w, "lane", |record| matches!(record, Record::ChildResultReceived { .. })).await;
    (tasks, homes)
}

// spec: CHILDREN-04
#[test]
fn both_die_and_whoever_resumes_the_parent_brings_the_child_back_too() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    let dig = ProbeTool::read("Dig");
    crash_parent_and_child(&path, &dig);
    process().block_on(async {
        let w = on(&path, &dig).await;
        let end = w.session("lane").resume().await.unwrap().wait_for_end().await.unwrap();
        assert_eq!(text(&end), "they say: gold: probed");
        assert_eq!(dig.run_count(), 2, "it only looks, so it looked again");
        assert_eq!(message_counts(&w).await, (1, 1));
    });
}

#[test]
fn the_parent_dies_and_the_childs_process_goes_on_with_both() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    let dig = ProbeTool::read("Dig");
    crash_parent_and_child(&path, &dig);
    process().block_on(async {
        let w = on(&path, &dig).await;
        // Only the child run is resumed; its message makes the parent continue.
        let end = w.session(CHILD).resume().await.unwrap().wait_for_end().await.unwrap();
        assert_eq!(text(&end), "gold: probed");
        let parent = w.session("lane");
        while parent.load_conversation().await.unwrap().last_run_end.is_none() {
            tokio::task::yield_now().await;
        }
        let end = parent.load_conversation().await.unwrap().last_run_end.unwrap();
        assert_eq!(&*end.text, "they say: gold: probed");
        assert_eq!(message_counts(&w).await, (1, 1));
    });
}

#[test]
fn the_child_dies_elsewhere_and_the_waiting_parent_takes_it_over() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    let dig = ProbeTool::read("Dig");
    crash_parent_and_child(&path, &dig);
    let (here, elsewhere) = (process(), process());
    let gated = dig.clone().with_gate(&Arc::new(Notify::new()));
    let child = elsewhere.block_on(async {
        let w = on(&path, &gated).await;
        let stream = w.session(CHILD).resume().await.unwrap();
        wait_until("the child digs again", || dig.run_count() == 2).await;
        stream.detach();
        w
    });
    let parent = here.block_on(async {
        let w = on(&path, &dig).await;
        (w.session("lane").resume().await.unwrap(), w)
    });
    std::mem::forget(child);
    elsewhere.shutdown_background();
    here.block_on(async {
        let (stream, w) = parent;
        assert_eq!(text(&stream.wait_for_end().await.unwrap()), "they say: gold: probed");
        assert_eq!(dig.run_count(), 3);
        assert_eq!(message_counts(&w).await, (1, 1));
    });
}

#[test]
fn a_childs_call_that_was_in_the_air_is_asked_about_and_never_done_twice() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    let dig = ProbeTool::once_only("Dig");
    crash_parent_and_child(&path, &dig);
    process().block_on(async {
        let w = on(&path, &dig).await;
        let session = w.session("lane");
        let end = session.resume().await.unwrap().wait_for_end().await.unwrap();
        assert_eq!(end, RunOutcome::Parked(Vec::new()));
        let (lane, question) = session.child_questions().await.unwrap().unwrap().remove(0);
        let done = HumanAnswer::MarkDone { text: Arc::from("a nugget") };
        w.session(lane.clone()).answer(question.id, done).await.unwrap();
        w.session(lane).resume().await.unwrap().detach();
        let end = session.resume().await.unwrap().wait_for_end().await.unwrap();
        assert_eq!(text(&end), "they say: gold: a nugget");
        assert_eq!(dig.run_count(), 1);
    });
}
