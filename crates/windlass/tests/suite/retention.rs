//! What is kept beside the log: without secrets, and not for ever.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass::core::call::call_facts::{CallFacts, Repeatability};
use windlass::core::call::outcome::{ToolError, ToolOutcome};
use windlass::core::log::ids::{LaneId, RunId, UnixMillis};
use windlass::core::log::input::ModelFailure;
use windlass::core::log::record::Durability;
use windlass::core::message::content_block::ContentBlock;
use windlass::core::message::raw_json::RawJson;
use windlass::core::message::reply::{ModelReply, StopReason, TokenUsage};
use windlass::core::message::request::ModelRequest;
use windlass::core::message::response_envelope::ResponseEnvelope;
use windlass::core::message::transcript::SegmentKind;
use windlass::core::projection::{EventRow, RawRow, Row};
use windlass::core::settings::conversation_settings::ToolSpec;
use windlass::memory::MemoryStore;
use windlass::ports::{
    AppendRequest, BoxFuture, CallContext, Clock, EncodedEntry, Model, ReplyObserver, Store, Tool,
    WorkerEventPage,
};
use windlass::{RetentionPolicy, RunOutcome, SystemClock, Windlass, WindlassBuilder};

use crate::kit::wait_until;

const LANE: &str = "conversation:leaks";

/// One secret of each shape, and the part of it that must not be seen. In two parts, so that they
/// are not taken for real ones.
fn planted_secrets() -> [(String, String); 6] {
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

fn leaking_text() -> String {
    planted_secrets().map(|(text, _)| text).join(" and ")
}

/// A model that calls the tool, then answers, with secrets in every text.
struct TalkativeModel;

impl Model for TalkativeModel {
    fn call(
        &self,
        request: ModelRequest,
        _stream: Arc<dyn ReplyObserver>,
    ) -> BoxFuture<'_, Result<ModelReply, ModelFailure>> {
        let asked = request.transcript.segments().iter().any(|s| s.kind == SegmentKind::Reply);
        let input = RawJson::parse("{}").unwrap();
        let (block, stop) = match asked {
            false => (ContentBlock::tool_use("call_1", "leak", &input), "tool_use"),
            true => (ContentBlock::text(&leaking_text()), "end_turn"),
        };
        let envelope =
            serde_json::json!({ "id": "msg_1", "headers": leaking_text(), "api_key": "kkk" });
        Box::pin(std::future::ready(Ok(ModelReply {
            blocks: vec![block],
            truncated_block: None,
            stop_reason: StopReason::from(stop),
            stop_sequence: None,
            usage: TokenUsage::default(),
            envelope: Some(ResponseEnvelope {
                fields: RawJson::encode(&envelope),
                body: Some(leaking_text().into()),
            }),
        })))
    }
}

/// A tool that fails with secrets in its error.
struct LeakingTool;

impl Tool for LeakingTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from("leak"),
            description: Arc::from("leaks"),
            input_schema: RawJson::parse(r#"{"type":"object"}"#).unwrap(),
        }
    }

    fn assess(&self, _input: &RawJson) -> CallFacts {
        CallFacts { repeat: Repeatability::Repeatable, ..CallFacts::default() }
    }

    fn run(&self, _context: CallContext, _input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let detail = Some(Arc::from(leaking_text()));
        let error =
            ToolError { detail, ..ToolError::new("refused", &leaking_text(), "ask somebody") };
        Box::pin(std::future::ready(ToolOutcome::Failed(error)))
    }
}

fn builder(store: &Arc<MemoryStore>) -> WindlassBuilder {
    let store: Arc<dyn Store> = Arc::clone(store) as Arc<dyn Store>;
    Windlass::builder()
        .model(TalkativeModel)
        .shared_store(store)
        .tool(LeakingTool)
        .allow_by_default()
}

async fn run(windlass: &Windlass) -> String {
    let session = windlass.session(LANE);
    let end = session.send("go").await.unwrap().wait_for_end().await.unwrap();
    assert!(matches!(end, RunOutcome::Finished(_)), "{end:?}");
    format!("{:?}", session.read_log().await.unwrap())
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
    let output = format!("{rows:?}");
    assert!(output.contains("agent.tool.failed") && output.contains("[redacted]"), "{output}");
    for (text, secret) in planted_secrets() {
        assert!(!output.contains(&secret), "{secret} is in a row: {output}");
        assert!(log.contains(&text), "the model would be sent something else than {text}");
    }
    assert!(!output.contains("kkk"), "{output}");
}

// spec: STORE-08
#[tokio::test]
async fn raw_responses_lie_beside_the_log_unless_a_tenant_wants_none() {
    for (no_raw_of, kept) in [("another", 2), ("default", 0)] {
        let store = Arc::new(MemoryStore::new());
        let tenants_without_raw = BTreeSet::from([Arc::from(no_raw_of)]);
        let keeping = RetentionPolicy { tenants_without_raw, ..RetentionPolicy::default() };
        let log = run(&builder(&store).retention(keeping).start().await.unwrap()).await;
        let rows = store.rows(&LaneId::from(LANE));
        assert_eq!(rows.iter().filter(|row| matches!(row, Row::Raw(_))).count(), kept);
        assert!(!log.contains("msg_1"), "{log}");
    }
}

/// Appends a raw response and an event of that age.
async fn append_old_rows(store: &MemoryStore, head: u64, at: UnixMillis) {
    let lane = LaneId::from("conversation:old");
    let (run, seq) = (Some(RunId::from("r")), head + 1);
    let raw = RawRow { run: run.clone(), seq, at, body: RawJson::string("r"), response: None };
    let event = EventRow {
        run,
        agent: Arc::from(""),
        profile: Arc::from(""),
        seq,
        at,
        name: "agent_run.started",
        fields: RawJson::string("e"),
    };
    let append = AppendRequest {
        lane,
        owner: Arc::from("w"),
        epoch: 1,
        head,
        entries: vec![EncodedEntry { seq, at, line: Arc::from("{}") }],
        messages_read: Vec::new(),
        outbox: Vec::new(),
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
    store.register_lane(lane.clone(), windlass::ports::Affinity::default()).await.unwrap();
    store.claim_lane(lane.clone(), Arc::from("w"), None).await.unwrap();
    let clock = SystemClock::start();
    let now = clock.now().0;
    for (head, days) in (0..).zip([500, 100, 1]) {
        append_old_rows(&store, head, UnixMillis(now - days * DAY_MS)).await;
    }
    let left = || {
        let rows = store.rows(&lane);
        let raw = rows.iter().filter(|row| matches!(row, Row::Raw(_))).count();
        (raw, rows.len() - raw)
    };
    assert_eq!(left(), (3, 3));
    let windlass = builder(&store).start().await.unwrap();
    wait_until("what is too old is gone", || left() != (3, 3)).await;
    wait_until("and no more", || left() == (1, 2)).await;
    assert_eq!(left(), (1, 2), "30 days of raw responses, 400 of the trace");
    // Deletions are stored as an event, for later inspection.
    let mut told = Vec::new();
    while told.is_empty() {
        told = store.worker_events(WorkerEventPage::Newest, 9).await.unwrap();
        clock.sleep(10).await;
    }
    let told: Vec<_> =
        told.iter().map(|it| (it.event.name.to_string(), it.event.fields.text())).collect();
    let counts = r#"{"raw":2,"trace":0,"events":1}"#;
    assert_eq!(told, [("agent_store.rows_deleted".to_owned(), counts)]);
    assert_eq!(store.read_log(lane.clone(), 0, 9).await.unwrap().len(), 3);
    drop(windlass);
}
