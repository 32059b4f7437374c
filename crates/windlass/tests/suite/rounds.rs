//! Rounds in the real loop: calls side by side, what is recorded when, and tools that break.

use std::fs;
use std::sync::Arc;

use tokio::sync::Notify;
use windlass::core::block::Kind;
use windlass::core::facts::{Facts, Repeat};
use windlass::core::ids::CallId;
use windlass::core::input::Input;
use windlass::core::order::Touches;
use windlass::core::outcome::Outcome;
use windlass::core::raw::Raw;
use windlass::core::record::Record;
use windlass::core::settings::ToolSpec;
use windlass::memory::MemoryStore;
use windlass::ports::{CallContext, Clock, Store, Task, Tool};
use windlass::scripted::Script;
use windlass::sqlite::SqliteStore;
use windlass::tools::{Workplace, standard};
use windlass::{End, LeaseTimes, Session, SystemClock, Windlass};

use crate::kit::{Probe, builder, eventually, pause, windlass};

/// A read that takes two seconds.
struct Slow;

impl Tool for Slow {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from("Slow"),
            description: Arc::from("takes its time"),
            input_schema: Raw::parse(r#"{"type":"object"}"#).unwrap(),
        }
    }

    fn assess(&self, input: &Raw) -> Facts {
        let touches = Touches::Reads(vec![Arc::from(input.text())]);
        Facts { touches, repeat: Repeat::Repeatable, ..Facts::default() }
    }

    fn run(&self, _context: CallContext, _input: Raw) -> Task<'_, Outcome> {
        Box::pin(async {
            pause(2_000).await;
            Outcome::Done(Raw::string("read"))
        })
    }
}

/// A tool that breaks down.
struct Broken;

impl Tool for Broken {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: Arc::from("Broken"), ..Slow.spec() }
    }

    fn assess(&self, input: &Raw) -> Facts {
        Slow.assess(input)
    }

    fn run(&self, _context: CallContext, _input: Raw) -> Task<'_, Outcome> {
        Box::pin(async { panic!("the cog is missing") })
    }
}

async fn ended(windlass: &Windlass, prompt: &str) -> (Session, String) {
    let session = windlass.session("lane");
    match session.send(prompt).await.unwrap().end().await.unwrap() {
        End::Finished(end) => (session, end.text.to_string()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_round_that_reads_is_one_append() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(folder.path().join("windlass.db")).unwrap());
    let calls: String = (1..=10).map(|n| format!("when ask {n}\n  call Look {{}}\n")).collect();
    let script = calls + "when any\n  say \"done\"\n";
    let w = builder(&script, MemoryStore::new(), &[Probe::read("Look")])
        .shared_store(Arc::clone(&store) as Arc<dyn Store>)
        .lease(LeaseTimes::default());
    let (_, text) = ended(&w.start().await.unwrap(), "go").await;
    assert_eq!(text, "done");
    // Eight others begin and end a run; with two appends to a round it would be 28.
    let commits = store.commits();
    assert!(commits < 24, "{commits}");
}

// spec: ROUNDS-05
#[tokio::test]
async fn six_reads_of_two_seconds_take_about_two() {
    let calls: String = (0..6).map(|n| format!("  call Slow {{\"n\": {n}}}\n")).collect();
    let script = format!("when results 0\n{calls}when results 6\n  say \"all six\"\n");
    let w = Windlass::builder()
        .scripted(Script::parse(&script).unwrap())
        .store(MemoryStore::default())
        .tool(Slow)
        .allow_everything_else()
        .start()
        .await
        .unwrap();
    let clock = SystemClock::start();
    assert_eq!(ended(&w, "go").await.1, "all six");
    let took = clock.monotonic_ms();
    // One after the other they take twelve.
    assert!((2_000..9_000).contains(&took), "{took} ms");
}

async fn records(session: &Session) -> Vec<Record> {
    session.log().await.unwrap().into_iter().flat_map(|entry| entry.records).collect()
}

fn started(records: &[Record]) -> Vec<CallId> {
    let call = |record: &Record| match record {
        Record::Started { call } => Some(*call),
        _ => None,
    };
    records.iter().filter_map(call).collect()
}

// spec: ROUNDS-09
#[tokio::test]
async fn a_call_with_effects_is_on_record_before_it_begins_and_its_result_after() {
    let gate = Arc::new(Notify::new());
    let tools = [Probe::read("Look"), Probe::once_only("Send").gated(&gate)];
    let script =
        "when results 0\n  say \"now\"\n  call Look {}\n  call Send {}\nwhen any\n  say \"ok\"\n";
    let w = windlass(script, MemoryStore::default(), &tools).await;
    let session = w.session("lane");
    let run = session.send("go").await.unwrap();
    eventually("the call is in the air", || tools[1].count() == 1).await;
    // Lane, reply and place in the reply: the text is block 0, the look block 1.
    let send = CallId { ask: 1, index: 2 };
    assert_eq!(started(&records(&session).await), [send], "a read needs no such record");
    let is = |record: &Record, call: CallId| matches!(record, Record::Completed { call: id } if *id == call);
    assert!(!records(&session).await.iter().any(|record| is(record, send)));
    gate.notify_one();
    run.end().await.unwrap();
    let log = session.log().await.unwrap();
    let entry = log.iter().find(|entry| entry.records.iter().any(|record| is(record, send)));
    let entry = entry.unwrap();
    let Input::ToolReturned { outcome: Outcome::Done(raw), .. } = &entry.input else { panic!() };
    assert_eq!(raw.text(), "\"probed\"", "the raw result");
    let at = |wanted: fn(&Record) -> bool| entry.records.iter().position(wanted).unwrap();
    let completed = at(|record| matches!(record, Record::Completed { .. }));
    assert!(completed < at(|record| matches!(record, Record::Settled { .. })));
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
    let workplace = Workplace::new(&folder.path().join("w"));
    let w = Windlass::builder()
        .scripted(Script::parse(BREAKING).unwrap())
        .store(MemoryStore::default())
        .tools(standard(&workplace))
        .tool(Broken)
        .allow_everything_else()
        .start()
        .await
        .unwrap();
    let (session, text) = ended(&w, "go").await;
    assert_eq!(text, "all six came back");
    let transcript = session.conversation().await.unwrap().transcript;
    let results: Vec<String> = transcript
        .segments()
        .iter()
        .flat_map(|segment| segment.blocks.iter())
        .filter(|block| matches!(block.kind(), Kind::ToolResult { .. }))
        .map(|block| block.raw().text().to_owned())
        .collect();
    let said =
        ["the cog is missing", "9", "odd", "file_not_found", "unknown_tool", "invalid_input"];
    assert_eq!(results.len(), said.len());
    for (result, said) in results.iter().zip(said) {
        assert!(result.contains(said), "{said}: {result}");
        assert!(!result.contains("stack backtrace"), "{result}");
    }
}
