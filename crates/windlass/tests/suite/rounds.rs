//! Rounds in the real loop: parallel calls, what is recorded when, and tools that panic.

use std::fs;
use std::sync::Arc;

use tokio::sync::Notify;
use windlass::core::call::call_facts::{CallFacts, Repeatability};
use windlass::core::call::call_order::TouchedResources;
use windlass::core::call::outcome::ToolOutcome;
use windlass::core::log::ids::CallId;
use windlass::core::log::input::Input;
use windlass::core::log::record::Record;
use windlass::core::message::content_block::BlockKind;
use windlass::core::message::raw_json::RawJson;
use windlass::core::settings::conversation_settings::ToolSpec;
use windlass::memory::MemoryStore;
use windlass::ports::{BoxFuture, CallContext, Clock, Store, Tool};
use windlass::scripted::Script;
use windlass::sqlite::SqliteStore;
use windlass::tools::{ToolContext, standard_tools};
use windlass::{LeaseTimes, RunOutcome, Session, SystemClock, Windlass};

use crate::kit::{ProbeTool, pause, start_windlass, wait_until, windlass_builder};

/// A read that takes two seconds.
struct SlowTool;

impl Tool for SlowTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from("Slow"),
            description: Arc::from("takes its time"),
            input_schema: RawJson::parse(r#"{"type":"object"}"#).unwrap(),
        }
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        let touches = TouchedResources::Reads(vec![Arc::from(input.text())]);
        CallFacts { touches, repeat: Repeatability::Repeatable, ..CallFacts::default() }
    }

    fn run(&self, _context: CallContext, _input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(async {
            pause(2_000).await;
            ToolOutcome::Done(RawJson::string("read"))
        })
    }
}

/// A tool that panics.
struct BrokenTool;

impl Tool for BrokenTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: Arc::from("Broken"), ..SlowTool.spec() }
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        SlowTool.assess(input)
    }

    fn run(&self, _context: CallContext, _input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(async { panic!("the cog is missing") })
    }
}

async fn run_to_end(windlass: &Windlass, prompt: &str) -> (Session, String) {
    let session = windlass.session("lane");
    match session.send(prompt).await.unwrap().wait_for_end().await.unwrap() {
        RunOutcome::Finished(end) => (session, end.text.to_string()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_round_that_reads_is_one_append() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(folder.path().join("windlass.db")).unwrap());
    let calls: String = (1..=10).map(|n| format!("when ask {n}\n  call Look {{}}\n")).collect();
    let script = calls + "when any\n  say \"done\"\n";
    let w = windlass_builder(&script, MemoryStore::new(), &[ProbeTool::read("Look")])
        .shared_store(Arc::clone(&store) as Arc<dyn Store>)
        .lease(LeaseTimes::default());
    let (_, text) = run_to_end(&w.start().await.unwrap(), "go").await;
    assert_eq!(text, "done");
    // Eight others start and end a run; with two appends per round it would be 28.
    let commits = store.commits();
    assert!(commits < 24, "{commits}");
}

// spec: ROUNDS-05
#[tokio::test]
async fn six_reads_of_two_seconds_take_about_two() {
    let calls: String = (0..6).map(|n| format!("  call Slow {{\"n\": {n}}}\n")).collect();
    let script = format!("when results 0\n{calls}when results 6\n  say \"all six\"\n");
    let w = Windlass::builder()
        .scripted_model(Script::parse(&script).unwrap())
        .store(MemoryStore::default())
        .tool(SlowTool)
        .allow_by_default()
        .start()
        .await
        .unwrap();
    let clock = SystemClock::start();
    assert_eq!(run_to_end(&w, "go").await.1, "all six");
    let elapsed = clock.monotonic_ms();
    // One after the other they would take twelve seconds.
    assert!((2_000..9_000).contains(&elapsed), "{elapsed} ms");
}

async fn records(session: &Session) -> Vec<Record> {
    session.read_log().await.unwrap().into_iter().flat_map(|entry| entry.records).collect()
}

fn started_calls(records: &[Record]) -> Vec<CallId> {
    let call = |record: &Record| match record {
        Record::CallStarted { call } => Some(*call),
        _ => None,
    };
    records.iter().filter_map(call).collect()
}

// spec: ROUNDS-09
#[tokio::test]
async fn a_call_with_effects_is_on_record_before_it_begins_and_its_result_after() {
    let gate = Arc::new(Notify::new());
    let tools = [ProbeTool::read("Look"), ProbeTool::once_only("Send").with_gate(&gate)];
    let script =
        "when results 0\n  say \"now\"\n  call Look {}\n  call Send {}\nwhen any\n  say \"ok\"\n";
    let w = start_windlass(script, MemoryStore::default(), &tools).await;
    let session = w.session("lane");
    let run = session.send("go").await.unwrap();
    wait_until("the call is in the air", || tools[1].run_count() == 1).await;
    // Lane, reply and index in the reply: the text is block 0, the look block 1.
    let send = CallId { model_call: 1, index: 2 };
    assert_eq!(started_calls(&records(&session).await), [send], "a read needs no such record");
    let is = |record: &Record, call: CallId| matches!(record, Record::CallReturned { call: id } if *id == call);
    assert!(!records(&session).await.iter().any(|record| is(record, send)));
    gate.notify_one();
    run.wait_for_end().await.unwrap();
    let log = session.read_log().await.unwrap();
    let entry = log.iter().find(|entry| entry.records.iter().any(|record| is(record, send)));
    let entry = entry.unwrap();
    let Input::ToolReturned { outcome: ToolOutcome::Done(raw), .. } = &entry.input else {
        panic!()
    };
    assert_eq!(raw.text(), "\"probed\"", "the raw result");
    let at = |wanted: fn(&Record) -> bool| entry.records.iter().position(wanted).unwrap();
    let completed = at(|record| matches!(record, Record::CallReturned { .. }));
    assert!(completed < at(|record| matches!(record, Record::ResultFinalized { .. })));
}

const BREAKING: &str = r#"
when results 0
  call Broken {}
  call Bash {"command": "kill -9 $$"}
  call Bash {"command": "printf '\\377\\376\\000 odd'"}
  call Read {"file_path": "nowhere.txt"}
  call Nobody {}
  call Read {"file_path": 7}
when results 6
  say "all six came back"
"#;

// spec: ERRORS-01
#[tokio::test]
async fn whatever_breaks_is_the_calls_result_and_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("w")).unwrap();
    let workplace = ToolContext::new(&folder.path().join("w"));
    let w = Windlass::builder()
        .scripted_model(Script::parse(BREAKING).unwrap())
        .store(MemoryStore::default())
        .tools(standard_tools(&workplace))
        .tool(BrokenTool)
        .allow_by_default()
        .start()
        .await
        .unwrap();
    let (session, text) = run_to_end(&w, "go").await;
    assert_eq!(text, "all six came back");
    let transcript = session.load_conversation().await.unwrap().transcript;
    let results: Vec<String> = transcript
        .segments()
        .iter()
        .flat_map(|segment| segment.blocks.iter())
        .filter(|block| matches!(block.kind(), BlockKind::ToolResult { .. }))
        .map(|block| block.raw().text().to_owned())
        .collect();
    let said =
        ["the cog is missing", "9", "odd", "file_not_found", "unknown_tool", "invalid_input"];
    assert_eq!(results.len(), said.len());
    for (result, output) in results.iter().zip(said) {
        assert!(result.contains(output), "{output}: {result}");
        assert!(!result.contains("stack backtrace"), "{result}");
    }
}
