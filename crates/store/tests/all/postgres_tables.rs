//! The tables that people read.

use windlass_core::log::ids::UnixMillis;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::TokenUsage;
use windlass_core::projection::{
    CheckpointKind, CheckpointRow, EventRow, Row, RunDescription, RunRow, ToolResultRow, TraceCall,
    TraceRow,
};
use windlass_core::run::active_run::RunCounters;
use windlass_core::stop::RunState;
use windlass_runtime::ports::{AppendRequest, Store, StoreError};

use crate::kit::{append_one, claim_new_lane, lane};
use crate::postgres_kit::{database, open, strings};

const RUN: &str = "0199d1c0-7a4e-7c30-9f00-000000000001";

// spec: TRACE-02
#[tokio::test]
async fn trace_has_exactly_its_columns() {
    let url = database().await;
    drop(open(&url).await);
    let columns = "SELECT concat_ws(' ', column_name, data_type,
             CASE is_nullable WHEN 'NO' THEN 'not null' END) FROM information_schema.columns
         WHERE table_name = 'agent_loop_trace' ORDER BY ordinal_position";
    assert_eq!(
        strings(&url, columns).await,
        [
            "id bigint not null",
            "job_id uuid not null",
            "iter integer not null",
            "stop_reason text",
            "tool_calls jsonb not null",
            "input_tokens integer",
            "output_tokens integer",
            "cache_read integer",
            "cache_write integer",
            "ts timestamp with time zone"
        ]
    );
    let defaults = "SELECT column_name || ' ' || column_default FROM information_schema.columns
         WHERE table_name = 'agent_loop_trace' AND column_default IS NOT NULL ORDER BY 1";
    assert_eq!(
        strings(&url, defaults).await,
        ["id nextval('agent_loop_trace_id_seq'::regclass)", "ts now()"]
    );
}

/// A provider may report any number; a count that is too large for its column becomes the column's
/// maximum.
#[tokio::test]
async fn absurd_counts_stay_counts() {
    let url = database().await;
    let store = open(&url).await;
    let epoch = claim_new_lane(&store, "a").await;
    let usage =
        TokenUsage { input_tokens: u64::MAX, output_tokens: 1 << 40, ..TokenUsage::default() };
    let trace = match trace("Read", 1) {
        Row::Trace(row) => Row::Trace(TraceRow { usage, ..row }),
        other => other,
    };
    let run = match run(None) {
        Row::Run(row) => {
            let counters = RunCounters { usage, ..row.counters };
            Row::Run(RunRow { counters, ..row })
        }
        other => other,
    };
    store
        .append(AppendRequest { rows: vec![run, trace], ..append_one("a", epoch, 0, "1") })
        .await
        .unwrap();
    let counted = "SELECT concat_ws('|', t.input_tokens, t.output_tokens, r.input_tokens,
         r.output_tokens) FROM agent_loop_trace t JOIN run r ON r.run_id::uuid = t.job_id";
    assert_eq!(
        strings(&url, counted).await,
        [format!("{0}|{0}|{1}|{2}", i32::MAX, i64::MAX, 1_u64 << 40)]
    );
}

fn run(text: Option<&str>) -> Row {
    let counters =
        RunCounters { tool_rounds: 3, model_calls: 4, tool_calls: 5, ..RunCounters::default() };
    Row::Run(RunRow {
        run: RUN.into(),
        state: RunState::Running,
        cause: None,
        other_causes: Vec::new(),
        text: text.map(Into::into),
        counters,
        usd_micros: None,
        description: RunDescription::default(),
        cancel_requested: false,
        at: UnixMillis(1),
    })
}

fn trace(name: &str, at: u64) -> Row {
    let call =
        TraceCall { name: name.into(), input_hash: "ab".into(), ms: 12, ok: true, outcome: "done" };
    Row::Trace(TraceRow {
        run: RUN.into(),
        iter: 4,
        stop_reason: "tool_use".into(),
        reply_stop_reason: Some("new".into()),
        model: Some("m".into()),
        tool_calls: vec![call],
        usage: TokenUsage {
            input_tokens: 1,
            output_tokens: 2,
            cache_read_tokens: 3,
            cache_write_tokens: 4,
        },
        transition: "tool_results",
        at: UnixMillis(at),
    })
}

fn result(id: &str, call: &str, outcome: Option<&str>) -> Row {
    Row::ToolResult(ToolResultRow {
        run: RUN.into(),
        tool_call_id: id.into(),
        call: call.to_owned(),
        tool: "Bash".into(),
        started_at: outcome.is_none().then_some(UnixMillis(7)),
        completed_at: outcome.map(|_| UnixMillis(9)),
        outcome: outcome.map(str::to_owned),
        attempts: if outcome.is_none() { 1 } else { 2 },
        result_seq: outcome.map(|_| 2),
    })
}

fn checkpoint(kind: CheckpointKind) -> Row {
    Row::Checkpoint(CheckpointRow {
        run: RUN.into(),
        seq: 1,
        kind,
        iteration: 4,
        message_cursor: 6,
        persisted_messages: 9,
        prompt_hash: Some("cd".into()),
        completed_calls: vec!["toolu_1".into()],
    })
}

fn event() -> Row {
    let fields = RawJson::parse(r#"{"why":"\ud800\u0000"}"#).unwrap();
    Row::Event(EventRow {
        run: None,
        agent: "helper".into(),
        profile: "careful".into(),
        seq: 1,
        at: UnixMillis(3),
        name: "agent.model.abandoned",
        fields,
    })
}

// spec: TRACE-03, TRACE-05, TRACE-09
// spec: TRACE-01, TRACE-10
// spec: STORE-07
#[tokio::test]
async fn rows_land_with_their_entry() {
    let url = database().await;
    let store = open(&url).await;
    let epoch = claim_new_lane(&store, "a").await;
    let rows = vec![
        run(None),
        trace("Read", 1_790_000_000_123),
        checkpoint(CheckpointKind::Final),
        checkpoint(CheckpointKind::ToolResult),
        event(),
    ];
    store.append(AppendRequest { rows, ..append_one("a", epoch, 0, "1") }).await.unwrap();
    let trace = "SELECT concat_ws('|', job_id, iter, stop_reason, tool_calls->0->>'name',
         tool_calls->0->>'ms', input_tokens, output_tokens, cache_read, cache_write,
         to_char(ts AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS')) FROM agent_loop_trace";
    assert_eq!(
        strings(&url, trace).await,
        [format!("{RUN}|4|tool_use|Read|12|1|2|3|4|2026-09-21T14:13:20.123")]
    );
    let iteration =
        "SELECT concat_ws('|', i.transition, i.tool_rounds, i.model_calls, i.tool_calls,
             i.model, i.reply_stop_reason)
         FROM agent_loop_iteration i JOIN agent_loop_trace t ON t.id = i.trace_id";
    assert_eq!(strings(&url, iteration).await, ["tool_results|3|4|5|m|new"]);
    let checkpoint = "SELECT concat_ws('|', lane.id, seq, run_id, kind, iteration, message_cursor,
         persisted_messages, prompt_hash, completed_calls) FROM checkpoint JOIN lane ON lane.no = lane_no";
    assert_eq!(
        strings(&url, checkpoint).await,
        [format!(r#"a|1|{RUN}|tool_result|4|6|9|cd|["toolu_1"]"#)]
    );
    let event = "SELECT concat_ws('|', seq, run_id, at, agent, profile, name, fields) FROM event";
    assert_eq!(
        strings(&url, event).await,
        [r#"1|3|helper|careful|agent.model.abandoned|{"why":"\ud800\u0000"}"#]
    );
}

/// The counters of a run whose row was written earlier are read from that row.
#[tokio::test]
async fn an_iteration_knows_its_run() {
    let url = database().await;
    let store = open(&url).await;
    let epoch = claim_new_lane(&store, "a").await;
    let first = AppendRequest { rows: vec![run(None)], ..append_one("a", epoch, 0, "1") };
    store.append(first).await.unwrap();
    let second =
        AppendRequest { rows: vec![trace("Read", u64::MAX)], ..append_one("a", epoch, 1, "2") };
    store.append(second).await.unwrap();
    let iteration = "SELECT concat_ws('|', tool_rounds, model_calls) FROM agent_loop_iteration";
    assert_eq!(strings(&url, iteration).await, ["3|4"]);
    let ts = "SELECT (ts > now() - interval '1 hour')::text FROM agent_loop_trace";
    assert_eq!(strings(&url, ts).await, ["true"], "a time that is nobody's becomes now");
}

// spec: STORE-07
#[tokio::test]
async fn a_fenced_append_leaves_no_rows() {
    let url = database().await;
    let store = open(&url).await;
    let epoch = claim_new_lane(&store, "a").await;
    let rows = vec![
        run(None),
        trace("Read", 1),
        result("t", "1.0", None),
        checkpoint(CheckpointKind::Input),
        event(),
    ];
    let large = "x".repeat(70_000);
    for append in [append_one("a", epoch + 1, 0, &large), append_one("a", epoch, 5, &large)] {
        let refused = store.append(AppendRequest { rows: rows.clone(), ..append }).await;
        assert!(matches!(refused, Err(StoreError::Fenced { .. })), "{refused:?}");
    }
    for table in [
        "entry",
        "blob",
        "run",
        "agent_loop_trace",
        "agent_loop_iteration",
        "agent_tool_results",
        "checkpoint",
        "event",
    ] {
        let count = strings(&url, &format!("SELECT count(*)::text FROM {table}")).await;
        assert_eq!(count, ["0"], "{table}");
    }
}

// spec: TRACE-07
#[tokio::test]
async fn results_are_replaced_and_repeated_ids_told_apart() {
    let url = database().await;
    let store = open(&url).await;
    let epoch = claim_new_lane(&store, "a").await;
    let first = vec![result("t", "1.0", None), result("t", "1.1", None), result("u", "1.2", None)];
    store.append(AppendRequest { rows: first, ..append_one("a", epoch, 0, "1") }).await.unwrap();
    let second = vec![
        result("t", "1.1", Some("done")),
        result("t", "1.0", Some("failed")),
        result("t", "2.0", None),
        result("t", "2.0", Some("done")),
    ];
    store.append(AppendRequest { rows: second, ..append_one("a", epoch, 1, "2") }).await.unwrap();
    let results = "SELECT concat_ws('|', run_id, tool_call_id, occurrence, call, tool, started_at,
         completed_at, outcome, result_seq, attempts) FROM agent_tool_results ORDER BY 1";
    assert_eq!(
        strings(&url, results).await,
        [
            "t|0|1.0|Bash|7|9|failed|2|2",
            "t|1|1.1|Bash|7|9|done|2|2",
            "t|2|2.0|Bash|7|9|done|2|2",
            "u|0|1.2|Bash|7|1"
        ]
        .map(|rest| format!("{RUN}|{rest}"))
    );
}

/// The log keeps NUL; rows for people show a symbol instead; nothing is rejected because of it.
#[tokio::test]
async fn nul_in_rows_costs_nothing() {
    let url = database().await;
    let store = open(&url).await;
    let epoch = claim_new_lane(&store, "a").await;
    let rows = vec![
        run(Some("before\0after")),
        trace("Re\0ad\\u0000", 1),
        result("t\0", "1.0", Some("\0")),
    ];
    store.append(AppendRequest { rows, ..append_one("a", epoch, 0, "line\0line") }).await.unwrap();
    let log = store.read_log(lane("a"), 0, 9).await.unwrap();
    assert_eq!(&*log[0].line, "line\0line");
    let text = store.list_runs(None, 9).await.unwrap()[0].text.clone();
    assert_eq!(text.as_deref(), Some("before\u{2400}after"));
    let name = strings(&url, "SELECT tool_calls->0->>'name' FROM agent_loop_trace").await;
    assert_eq!(name, ["Re\u{2400}ad\\u0000"]);
}

// spec: LANES-01
#[tokio::test]
async fn the_database_itself_refuses_a_second_active_run() {
    let url = database().await;
    drop(open(&url).await);
    let insert = |run: &str, active: &str| {
        let sql = format!(
            "INSERT INTO run (run_id, lane_no, state, active, tool_rounds, model_calls, tool_calls,
                 input_tokens, output_tokens, cache_read, cache_write, at)
             VALUES ('{run}', 1, 'running', {active}, 0, 0, 0, 0, 0, 0, 0, 0)"
        );
        let url = url.clone();
        async move { windlass_cluster::run_query(&url, &sql).await.is_ok() }
    };
    assert!(insert("r", "true").await);
    assert!(insert("q", "false").await);
    assert!(!insert("s", "true").await);
}

// spec: STORE-09
#[tokio::test]
async fn large_bodies_are_stored_once() {
    let url = database().await;
    let store = open(&url).await;
    let epoch = claim_new_lane(&store, "a").await;
    let body = "x".repeat(65_537);
    for head in 0..3 {
        store.append(append_one("a", epoch, head, &body)).await.unwrap();
    }
    store.append(append_one("a", epoch, 3, &"x".repeat(65_536))).await.unwrap();
    let blobs = "SELECT concat_ws('|', count(*), sum(size)) FROM blob";
    assert_eq!(strings(&url, blobs).await, ["1|65537"]);
    let outside = "SELECT count(*)::text FROM entry WHERE body IS NULL";
    assert_eq!(strings(&url, outside).await, ["3"]);
}
