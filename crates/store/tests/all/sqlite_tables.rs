//! The tables that people read.

use rusqlite::Connection;
use windlass_core::log::ids::{Seq, UnixMillis};
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::TokenUsage;
use windlass_core::projection::{
    CheckpointKind, CheckpointRow, EventRow, Row, RunDescription, RunRow, ToolResultRow, TraceCall,
    TraceRow,
};
use windlass_core::run::active_run::RunCounters;
use windlass_core::stop::RunState;
use windlass_runtime::ports::{AppendRequest, Store, StoreError};

use crate::kit::{append_one, claim_new_lane, file, folder, open};

const RUN: &str = "0199d1c0-7a4e-7c30-9f00-000000000001";

fn strings(raw: &Connection, query: &str) -> Vec<String> {
    let mut statement = raw.prepare(query).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

// spec: TRACE-02
#[test]
fn trace_has_exactly_its_columns() {
    let folder = folder();
    drop(open(&folder));
    let raw = Connection::open(file(&folder)).unwrap();
    assert_eq!(
        strings(&raw, "SELECT name || ' ' || type FROM pragma_table_info('agent_loop_trace')"),
        [
            "id INTEGER",
            "job_id TEXT",
            "iter INTEGER",
            "stop_reason TEXT",
            "tool_calls TEXT",
            "input_tokens INTEGER",
            "output_tokens INTEGER",
            "cache_read INTEGER",
            "cache_write INTEGER",
            "ts TEXT"
        ]
    );
    assert_eq!(
        strings(
            &raw,
            "SELECT name FROM pragma_table_info('agent_loop_trace') WHERE \"notnull\" = 1"
        ),
        ["job_id", "iter", "tool_calls"]
    );
    assert_eq!(
        strings(&raw, "SELECT name FROM pragma_index_info('agent_loop_trace_by_job')"),
        ["job_id", "iter"]
    );
    raw.execute(
        "INSERT INTO agent_loop_trace (job_id, iter, tool_calls) VALUES ('r', 1, '[]')",
        (),
    )
    .unwrap();
    assert!(strings(&raw, "SELECT ts FROM agent_loop_trace")[0].ends_with('Z'));
}

fn run(state: RunState) -> Row {
    let counters =
        RunCounters { tool_rounds: 3, model_calls: 4, tool_calls: 5, ..RunCounters::default() };
    Row::Run(RunRow {
        run: RUN.into(),
        state,
        cause: None,
        other_causes: Vec::new(),
        text: None,
        counters,
        usd_micros: None,
        description: RunDescription::default(),
        cancel_requested: false,
        at: UnixMillis(1),
    })
}

fn trace() -> Row {
    let call = TraceCall {
        name: "Read".into(),
        input_hash: "ab".into(),
        ms: 12,
        ok: true,
        outcome: "done",
    };
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
        at: UnixMillis(1_790_000_000_123),
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

fn checkpoint(seq: Seq) -> Row {
    Row::Checkpoint(CheckpointRow {
        run: RUN.into(),
        seq,
        kind: CheckpointKind::ToolResult,
        iteration: 4,
        message_cursor: 6,
        persisted_messages: 9,
        prompt_hash: Some("cd".into()),
        completed_calls: vec!["toolu_1".into()],
    })
}

fn event() -> Row {
    let fields = RawJson::parse(r#"{"why":"\ud800"}"#).unwrap();
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
    let folder = folder();
    let store = open(&folder);
    let epoch = claim_new_lane(&store, "a").await;
    let rows = vec![run(RunState::Running), trace(), checkpoint(1), event()];
    store.append(AppendRequest { rows, ..append_one("a", epoch, 0, "1") }).await.unwrap();
    let raw = Connection::open(file(&folder)).unwrap();
    assert_eq!(
        strings(
            &raw,
            "SELECT concat_ws('|', job_id, iter, stop_reason, tool_calls, input_tokens, output_tokens,
                 cache_read, cache_write, ts) FROM agent_loop_trace"
        ),
        [format!(
            r#"{RUN}|4|tool_use|[{{"name":"Read","input_hash":"ab","ms":12,"ok":true}}]|1|2|3|4|2026-09-21T14:13:20.123Z"#
        )]
    );
    assert_eq!(
        strings(
            &raw,
            "SELECT concat_ws('|', i.transition, i.tool_rounds, i.model_calls, i.tool_calls,
             i.model, i.reply_stop_reason)
             FROM agent_loop_iteration i JOIN agent_loop_trace t ON t.id = i.trace_id"
        ),
        ["tool_results|3|4|5|m|new"]
    );
    assert_eq!(
        strings(
            &raw,
            "SELECT concat_ws('|', lane.id, seq, run_id, kind, iteration, message_cursor, persisted_messages,
                 prompt.hash, completed_calls)
             FROM checkpoint JOIN lane ON lane.no = lane_no JOIN prompt ON prompt.no = prompt_no"
        ),
        [format!(r#"a|1|{RUN}|tool_result|4|6|9|cd|["toolu_1"]"#)]
    );
    assert_eq!(
        strings(
            &raw,
            "SELECT concat_ws('|', seq, run_id, at, agent, profile, name, fields) FROM event"
        ),
        [r#"1|3|helper|careful|agent.model.abandoned|{"why":"\ud800"}"#]
    );
}

#[tokio::test]
async fn a_checkpoint_elsewhere_is_refused() {
    let folder = folder();
    let store = open(&folder);
    let epoch = claim_new_lane(&store, "a").await;
    let rows = vec![run(RunState::Running), checkpoint(1)];
    store.append(append_one("a", epoch, 0, "1")).await.unwrap();
    let refused =
        store.append(AppendRequest { rows, ..append_one("a", epoch, 1, "2") }).await.unwrap_err();
    assert!(
        refused.to_string().contains("the checkpoint at 1 does not belong to an entry"),
        "{refused}"
    );
}

// spec: STORE-07
#[tokio::test]
async fn a_fenced_append_leaves_no_rows() {
    let folder = folder();
    let store = open(&folder);
    let epoch = claim_new_lane(&store, "a").await;
    for append in [append_one("a", epoch + 1, 0, "1"), append_one("a", epoch, 5, "1")] {
        let (run, result, checkpoint) =
            (run(RunState::Running), result("t", "1.0", None), checkpoint(append.head + 1));
        let rows = vec![run, trace(), result, checkpoint, event()];
        let refused = store.append(AppendRequest { rows, ..append }).await;
        assert!(matches!(refused, Err(StoreError::Fenced { .. })), "{refused:?}");
    }
    let raw = Connection::open(file(&folder)).unwrap();
    for table in [
        "entry",
        "run",
        "agent_loop_trace",
        "agent_loop_iteration",
        "agent_tool_results",
        "checkpoint",
        "event",
    ] {
        assert_eq!(strings(&raw, &format!("SELECT count(*) || '' FROM {table}")), ["0"], "{table}");
    }
}

// spec: TRACE-07
#[tokio::test]
async fn results_are_replaced_and_repeated_ids_told_apart() {
    let folder = folder();
    let store = open(&folder);
    let epoch = claim_new_lane(&store, "a").await;
    let first = vec![result("t", "1.0", None), result("t", "1.1", None), result("u", "1.2", None)];
    store.append(AppendRequest { rows: first, ..append_one("a", epoch, 0, "1") }).await.unwrap();
    let second = vec![result("t", "1.1", Some("done")), result("t", "1.0", Some("failed"))];
    store.append(AppendRequest { rows: second, ..append_one("a", epoch, 1, "2") }).await.unwrap();
    let raw = Connection::open(file(&folder)).unwrap();
    assert_eq!(
        strings(
            &raw,
            "SELECT concat_ws('|', run_id, tool_call_id, occurrence, call, tool, started_at,
                 completed_at, outcome, result_seq, attempts) FROM agent_tool_results ORDER BY 1"
        ),
        ["t|0|1.0|Bash|7|9|failed|2|2", "t|1|1.1|Bash|7|9|done|2|2", "u|0|1.2|Bash|7|1"]
            .map(|rest| format!("{RUN}|{rest}"))
    );
}

// spec: LANES-01
#[test]
fn the_database_itself_refuses_a_second_active_run() {
    let folder = folder();
    drop(open(&folder));
    let raw = Connection::open(file(&folder)).unwrap();
    let insert = |run: &str, active: u8| {
        raw.execute(
            "INSERT INTO run (run_id, lane_no, state, active, tool_rounds, model_calls, tool_calls,
                 input_tokens, output_tokens, cache_read, cache_write, at)
             VALUES (?1, 1, 'running', ?2, 0, 0, 0, 0, 0, 0, 0, 0)",
            (run, active),
        )
    };
    raw.execute("INSERT INTO lane (id) VALUES ('a')", ()).unwrap();
    insert("r", 1).unwrap();
    insert("q", 0).unwrap();
    assert!(insert("s", 1).is_err());
    assert!(raw.execute("INSERT INTO lane (id) VALUES ('')", ()).is_err());
}

// spec: STORE-09
#[tokio::test]
async fn large_bodies_are_stored_once() {
    let folder = folder();
    let store = open(&folder);
    let epoch = claim_new_lane(&store, "a").await;
    let body = "x".repeat(65_537);
    for head in 0..3 {
        store.append(append_one("a", epoch, head, &body)).await.unwrap();
    }
    store.append(append_one("a", epoch, 3, &"x".repeat(65_536))).await.unwrap();
    let raw = Connection::open(file(&folder)).unwrap();
    assert_eq!(strings(&raw, "SELECT count(*) || '|' || sum(size) FROM blob"), ["1|65537"]);
    assert_eq!(strings(&raw, "SELECT count(*) || '' FROM entry WHERE body IS NULL"), ["3"]);
}

#[tokio::test]
async fn the_file_is_in_wal_mode_and_ours() {
    let folder = folder();
    let store = open(&folder);
    let raw = Connection::open(file(&folder)).unwrap();
    assert_eq!(strings(&raw, "PRAGMA journal_mode"), ["wal"]);
    let id: i32 = raw.pragma_query_value(None, "application_id", |row| row.get(0)).unwrap();
    assert_eq!(id, 0x574e_444c);
    drop(store);
}
