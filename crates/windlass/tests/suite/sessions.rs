//! Prompts, steers, questions and forks.

use windlass::core::log::command_rejection::CommandRejection;
use windlass::core::log::entry::Entry;
use windlass::core::log::record::Record;
use windlass::memory::MemoryStore;
use windlass::scripted::Script;
use windlass::{HumanAnswer, RunOutcome, StopCause, Windlass};

use crate::kit::{ProbeTool, start_windlass};

fn text(end: &RunOutcome) -> &str {
    match end {
        RunOutcome::Finished(ended) => &ended.text,
        other => panic!("not finished: {other:?}"),
    }
}

// spec: LANES-02
#[tokio::test]
async fn prompts_on_a_busy_lane_wait_their_turn() {
    let w = start_windlass(
        "when any\n  delay 20ms\n  say \"to: ${user}\"\n",
        MemoryStore::default(),
        &[],
    )
    .await;
    let session = w.session("lane");
    let first = session.send("one").await.unwrap();
    let second = session.send("two").await.unwrap();
    assert_eq!(text(&first.wait_for_end().await.unwrap()), "to: one");
    assert_eq!(text(&second.wait_for_end().await.unwrap()), "to: two");
}

// spec: LANES-01
#[tokio::test]
async fn lanes_run_side_by_side() {
    let w =
        start_windlass("when any\n  delay 30ms\n  say \"x\"\n", MemoryStore::default(), &[]).await;
    let mut runs = Vec::new();
    for lane in 0..20 {
        runs.push(w.session(format!("lane:{lane}")).send("go").await.unwrap());
    }
    for run in runs {
        assert_eq!(text(&run.wait_for_end().await.unwrap()), "x");
    }
}

#[tokio::test]
async fn a_steer_joins_the_run_after_its_round() {
    let script = "when user contains \"also\"\n  say \"both done\"\nwhen results 0\n  call Look {}\nwhen any\n  say \"one done\"\n";
    let gate = std::sync::Arc::new(tokio::sync::Notify::new());
    let probe = ProbeTool::read("Look").with_gate(&gate);
    let w = start_windlass(script, MemoryStore::default(), &[probe]).await;
    let session = w.session("lane");
    let run = session.send("do it").await.unwrap();
    session.steer("and also that").await.unwrap();
    gate.notify_one();
    assert_eq!(text(&run.wait_for_end().await.unwrap()), "both done");
}

// spec: LANES-13
#[tokio::test]
async fn a_question_parks_the_run_and_the_answer_takes_it_up() {
    let script =
        Script::parse("when results 0\n  call Send {}\nwhen any\n  say \"sent\"\n").unwrap();
    let send = ProbeTool::once_only("Send");
    let w = Windlass::builder()
        .scripted_model(script)
        .store(MemoryStore::default())
        .tool(send.clone())
        .start()
        .await
        .unwrap();
    let session = w.session("lane");
    let RunOutcome::Parked(questions) =
        session.send("go").await.unwrap().wait_for_end().await.unwrap()
    else {
        panic!("it should wait");
    };
    assert_eq!(send.run_count(), 0);
    session.answer(questions[0].id, HumanAnswer::allow()).await.unwrap();
    let end = session.resume().await.unwrap().wait_for_end().await.unwrap();
    assert_eq!(text(&end), "sent");
    assert_eq!(send.run_count(), 1);
}

// spec: RESUME-13
#[tokio::test]
async fn a_fork_shares_the_past_and_nothing_else() {
    let w = start_windlass("when any\n  say \"asked ${ask} times\"\n", MemoryStore::default(), &[])
        .await;
    let session = w.session("lane");
    session.send("one").await.unwrap().wait_for_end().await.unwrap();
    let fork = session.fork(None).await.unwrap();
    assert_eq!(
        text(&fork.send("two").await.unwrap().wait_for_end().await.unwrap()),
        "asked 2 times"
    );
    assert_eq!(
        text(&session.send("three").await.unwrap().wait_for_end().await.unwrap()),
        "asked 2 times"
    );
    let used = fork.load_conversation().await.unwrap().usage.total_tokens();
    assert!(used < session.load_conversation().await.unwrap().usage.total_tokens());
}

#[tokio::test]
async fn an_empty_prompt_is_refused_with_a_reason() {
    let w = start_windlass("when any\n  say \"x\"\n", MemoryStore::default(), &[]).await;
    let end = w.session("lane").send("   ").await.unwrap().wait_for_end().await.unwrap();
    assert!(matches!(end, RunOutcome::Rejected(CommandRejection::EmptyPrompt)));
}

// spec: LOG-05
#[tokio::test]
async fn what_was_decided_is_decided_again_from_the_log_alone() {
    let script = "when results 0\n  call Look {\"a\": 1}\n  call Look {\"a\": 2}\nwhen any\n  say \"seen\"\n";
    let w = start_windlass(script, MemoryStore::default(), &[ProbeTool::read("Look")]).await;
    let session = w.session("lane");
    session.send("go").await.unwrap().wait_for_end().await.unwrap();
    let log = session.read_log().await.unwrap();
    let mut again = windlass::core::Conversation::default();
    for entry in &log {
        again.verify(entry).unwrap();
    }
    assert_eq!(again, session.load_conversation().await.unwrap());
    assert!(log.iter().any(finishes));
}

fn finishes(entry: &Entry) -> bool {
    entry
        .records
        .iter()
        .any(|record| matches!(record, Record::RunFinished { cause: StopCause::EndTurn, .. }))
}
