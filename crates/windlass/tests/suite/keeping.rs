//! What is kept beside the log: without secrets, and not for ever.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass::core::block::Block;
use windlass::core::facts::{Facts, Repeat};
use windlass::core::ids::{LaneId, Millis, RunId};
use windlass::core::input::Failure;
use windlass::core::outcome::{Outcome, ToolError};
use windlass::core::project::{EventRow, RawRow, Row};
use windlass::core::raw::Raw;
use windlass::core::record::Durability;
use windlass::core::reply::{Reply, StopReason, Usage};
use windlass::core::request::Request;
use windlass::core::settings::ToolSpec;
use windlass::core::transcript::Part;
use windlass::memory::MemoryStore;
use windlass::ports::{
    Append, CallContext, Clock, EncodedEntry, Model, Store, Stream, Task, Tool, WorkerEventPage,
};
use windlass::{Builder, End, Keeping, SystemClock, Windlass};

use crate::kit::eventually;

const LANE: &str = "conversation:leaks";

/// One of each shape, and what of it must not be seen. In two parts, so that nobody takes them for
/// real ones.
fn planted() -> [(String, String); 6] {
    let of = |before: &str, secret: &str| (format!("{before}{secret}"), secret.to_owned());
    [
        of("sk-ant-", "api03-AbCdEfGhIjKlMnOp"),
        of("AKIA", "IOSFODNN7EXAMPL0"),
        of("ghp_", "0123456789abcdefghijABCDEFGHIJ"),
        of("Bearer ", "abcdef.123456-tail"),
        of("password=", "hunter2swordfish"),
        of("postgres://me:", "s3cr3tpass@db/x"),
    ]
}

fn leak() -> String {
    planted().map(|(text, _)| text).join(" and ")
}

/// Calls the tool, then answers; says secrets wherever it can.
struct Talkative;

impl Model for Talkative {
    fn ask(&self, request: Request, _stream: Arc<dyn Stream>) -> Task<'_, Result<Reply, Failure>> {
        let asked = request.transcript.segments().iter().any(|s| s.part == Part::Reply);
        let input = Raw::parse("{}").unwrap();
        let (block, stop) = match asked {
            false => (Block::tool_use("call_1", "leak", &input), "tool_use"),
            true => (Block::text(&leak()), "end_turn"),
        };
        let envelope = serde_json::json!({ "id": "msg_1", "headers": leak(), "api_key": "kkk" });
        Box::pin(std::future::ready(Ok(Reply {
            blocks: vec![block],
            cut: None,
            stop_reason: StopReason::from(stop),
            stop_sequence: None,
            usage: Usage::default(),
            envelope: Some(Raw::encode(&envelope)),
        })))
    }
}

/// Fails, and tells too much of why.
struct Leak;

impl Tool for Leak {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from("leak"),
            description: Arc::from("leaks"),
            input_schema: Raw::parse(r#"{"type":"object"}"#).unwrap(),
        }
    }

    fn assess(&self, _input: &Raw) -> Facts {
        Facts { repeat: Repeat::Repeatable, ..Facts::default() }
    }

    fn run(&self, _context: CallContext, _input: Raw) -> Task<'_, Outcome> {
        let detail = Some(Arc::from(leak()));
        let error = ToolError { detail, ..ToolError::new("refused", &leak(), "ask somebody") };
        Box::pin(std::future::ready(Outcome::Failed(error)))
    }
}

fn builder(store: &Arc<MemoryStore>) -> Builder {
    let store: Arc<dyn Store> = Arc::clone(store) as Arc<dyn Store>;
    Windlass::builder().model(Talkative).shared_store(store).tool(Leak).allow_everything_else()
}

async fn run(windlass: &Windlass) -> String {
    let session = windlass.session(LANE);
    let end = session.send("go").await.unwrap().end().await.unwrap();
    assert!(matches!(end, End::Finished(_)), "{end:?}");
    format!("{:?}", session.log().await.unwrap())
}

// spec: STORE-08
#[tokio::test]
async fn no_row_holds_a_secret_and_the_log_is_exact() {
    let store = Arc::new(MemoryStore::new());
    let log = run(&builder(&store).start().await.unwrap()).await;
    let rows = store.rows(&LaneId::from(LANE));
    let kinds = |wanted: fn(&Row) -> bool| rows.iter().filter(|row| wanted(row)).count();
    assert_eq!(kinds(|row| matches!(row, Row::Raw(_))), 2);
    assert!(kinds(|row| matches!(row, Row::Event(_))) > 0);
    let shown = format!("{rows:?}");
    assert!(shown.contains("agent.tool.failed") && shown.contains("[redacted]"), "{shown}");
    for (text, secret) in planted() {
        assert!(!shown.contains(&secret), "{secret} is in a row: {shown}");
        assert!(log.contains(&text), "the model would be sent something else than {text}");
    }
    assert!(!shown.contains("kkk"), "{shown}");
}

// spec: STORE-08
#[tokio::test]
async fn raw_responses_lie_beside_the_log_unless_a_tenant_wants_none() {
    for (no_raw_of, kept) in [("another", 2), ("default", 0)] {
        let store = Arc::new(MemoryStore::new());
        let no_raw_of = BTreeSet::from([Arc::from(no_raw_of)]);
        let keeping = Keeping { no_raw_of, ..Keeping::default() };
        let log = run(&builder(&store).keeping(keeping).start().await.unwrap()).await;
        let rows = store.rows(&LaneId::from(LANE));
        assert_eq!(rows.iter().filter(|row| matches!(row, Row::Raw(_))).count(), kept);
        assert!(!log.contains("msg_1"), "{log}");
    }
}

/// A raw response and an event of that age.
async fn leave(store: &MemoryStore, head: u64, at: Millis) {
    let lane = LaneId::from("conversation:old");
    let (run, seq) = (Some(RunId::from("r")), head + 1);
    let raw = RawRow { run: run.clone(), seq, at, body: Raw::string("r") };
    let event = EventRow {
        run,
        agent: Arc::from(""),
        profile: Arc::from(""),
        seq,
        at,
        name: "agent_run.started",
        fields: Raw::string("e"),
    };
    let append = Append {
        lane,
        owner: Arc::from("w"),
        epoch: 1,
        head,
        entries: vec![EncodedEntry { seq, at, line: Arc::from("{}") }],
        mail_read: Vec::new(),
        mail_out: Vec::new(),
        rows: vec![Row::Raw(raw), Row::Event(event)],
        wake_at: None,
        active_run: None,
        durability: Durability::Commit,
        spending: None,
    };
    store.append(append).await.unwrap();
}

// spec: TRACE-10, TRACE-13
#[tokio::test]
async fn whoever_runs_forgets_what_is_too_old() {
    const DAY_MS: u64 = 86_400_000;
    let store = Arc::new(MemoryStore::new());
    let lane = LaneId::from("conversation:old");
    store.introduce(lane.clone(), windlass::ports::Whose::default()).await.unwrap();
    store.claim(lane.clone(), Arc::from("w"), None).await.unwrap();
    let clock = SystemClock::start();
    let now = clock.now().0;
    for (head, days) in (0..).zip([500, 100, 1]) {
        leave(&store, head, Millis(now - days * DAY_MS)).await;
    }
    let left = || {
        let rows = store.rows(&lane);
        let raw = rows.iter().filter(|row| matches!(row, Row::Raw(_))).count();
        (raw, rows.len() - raw)
    };
    assert_eq!(left(), (3, 3));
    let windlass = builder(&store).start().await.unwrap();
    eventually("what is too old is gone", || left() != (3, 3)).await;
    eventually("and no more", || left() == (1, 2)).await;
    assert_eq!(left(), (1, 2), "30 days of raw responses, 400 of the trace");
    // What was removed is stored as an event, for people who look later.
    let mut told = Vec::new();
    while told.is_empty() {
        told = store.worker_events(WorkerEventPage::Newest, 9).await.unwrap();
        clock.sleep(10).await;
    }
    let told: Vec<_> =
        told.iter().map(|it| (it.event.name.to_string(), it.event.fields.text())).collect();
    let counts = r#"{"raw":2,"trace":0,"events":1}"#;
    assert_eq!(told, [("agent_store.forgot".to_owned(), counts)]);
    assert_eq!(store.read_log(lane.clone(), 0, 9).await.unwrap().len(), 3);
    drop(windlass);
}
