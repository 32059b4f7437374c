//! Rows that lag behind their entries: what is in the tables afterwards is the same as if each row
//! had been written with its entry.

use rusqlite::Connection;
use windlass_core::log::ids::UnixMillis;
use windlass_core::stop::RunState;
use windlass_runtime::ports::{ObservedHeartbeat, ReconcileRequest, ResumeOverride, Store};
use windlass_store::SqliteStore;

use crate::kit::running_job::{RunningJob, start_job};
use crate::kit::{file, folder, lane, open};

/// A page and its header in the log.
const LOGGED_PAGE_BYTES: u64 = 4096 + 24;

fn strings(raw: &Connection, query: &str) -> Vec<String> {
    let mut statement = raw.prepare(query).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Returns everything in the tables that are projections of the log.
fn tables(folder: &tempfile::TempDir) -> Vec<String> {
    let raw = Connection::open(file(folder)).unwrap();
    [
        "SELECT concat_ws('|', id, job_id, iter, stop_reason, tool_calls, input_tokens, ts)
         FROM agent_loop_trace ORDER BY id",
        "SELECT concat_ws('|', trace_id, transition, tool_rounds, model_calls, tool_calls, model)
         FROM agent_loop_iteration ORDER BY trace_id",
        "SELECT concat_ws('|', run_id, tool_call_id, occurrence, call, tool, started_at,
             completed_at, outcome, result_seq, attempts) FROM agent_tool_results ORDER BY 1",
        "SELECT concat_ws('|', lane_no, seq, run_id, at, name, fields, agent) FROM event ORDER BY no",
        "SELECT concat_ws('|', run_id, lane_no, state, active, cause, text, tool_rounds, tool_calls,
             at, usd_micros, prompt) FROM run ORDER BY no",
    ]
    .iter()
    .flat_map(|query| strings(&raw, query))
    .collect()
}

fn trace_rows(folder: &tempfile::TempDir) -> String {
    let raw = Connection::open(file(folder)).unwrap();
    strings(&raw, "SELECT count(*) || '' FROM agent_loop_trace").concat()
}

// spec: TRACE-01
#[tokio::test]
async fn what_was_deferred_is_what_would_have_been_written() {
    let (late, early) = (folder(), folder());
    for folder in [&late, &early] {
        let store = open(folder);
        let mut job = start_job(&store, "a", 0).await;
        for turn in 0..200 {
            let append = if turn % 50 == 49 { job.park() } else { job.turn() };
            store.append(append).await.unwrap();
            if std::ptr::eq(folder, &early) {
                // Statistics leave nothing deferred.
                store.tool_stats(UnixMillis(0)).await.unwrap();
            }
        }
        store.append(job.end()).await.unwrap();
    }
    let tables = [&late, &early].map(tables);
    assert_eq!(tables[0].len(), 197 + 197 + 2 * 196 + 196 + 1);
    assert_eq!(tables[0], tables[1]);
}

#[tokio::test]
async fn rows_wait_until_the_run_changes_its_state() {
    let folder = folder();
    let store = open(&folder);
    let mut job = start_job(&store, "a", 3).await;
    assert_eq!(trace_rows(&folder), "0");
    store.append(job.park()).await.unwrap();
    assert_eq!(trace_rows(&folder), "3");
    // A run that waits does not continue: a row that says so is written at once.
    store.append(job.turn()).await.unwrap();
    assert_eq!(trace_rows(&folder), "4");
    store.append(job.turn()).await.unwrap();
    assert_eq!(trace_rows(&folder), "4");
    store.append(job.end()).await.unwrap();
    assert_eq!(trace_rows(&folder), "6");
}

#[tokio::test]
async fn the_lag_is_bounded() {
    let folder = folder();
    let store = open(&folder);
    let mut job = start_job(&store, "a", 64).await;
    assert_eq!(trace_rows(&folder), "0");
    store.append(job.turn()).await.unwrap();
    assert_eq!(trace_rows(&folder), "65");
}

#[tokio::test]
async fn another_process_counts_every_call() {
    let folder = folder();
    let store = open(&folder);
    let mut one = start_job(&store, "a", 3).await;
    let mut other = start_job(&store, "b", 2).await;
    let reader = open(&folder);
    let calls = async || {
        let stats = reader.tool_stats(UnixMillis(0)).await.unwrap();
        let events = reader.event_counts(UnixMillis(0)).await.unwrap();
        (stats[0].calls, events[0].count)
    };
    assert_eq!(calls().await, (10, 5));
    store.append(one.turn()).await.unwrap();
    assert_eq!(calls().await, (12, 6));
    store.append(one.end()).await.unwrap();
    store.append(other.end()).await.unwrap();
    assert_eq!(calls().await, (12, 6));
}

#[tokio::test]
async fn lists_show_time_and_cost_of_the_last_turn() {
    let folder = folder();
    let store = open(&folder);
    let mut job = start_job(&store, "a", 3).await;
    let shown = async |store: &SqliteStore| {
        let run = store.list_runs(None, 9).await.unwrap().remove(0);
        (run.state, run.at.0, run.usd_micros)
    };
    assert_eq!(shown(&store).await, (RunState::Running, 6, Some(3_000)));
    store.append(job.turn()).await.unwrap();
    assert_eq!(shown(&store).await, (RunState::Running, 8, Some(4_000)));
    assert_eq!(shown(&open(&folder)).await, (RunState::Running, 8, Some(4_000)));
    store.append(job.end()).await.unwrap();
    assert_eq!(shown(&store).await, (RunState::Completed, 10, Some(5_000)));
}

/// Nothing is lost with the process that deferred the rows, and the next one does not know of it.
#[tokio::test]
async fn rows_of_a_dead_process_are_written_before_its_run_stops() {
    let folder = folder();
    let store = open(&folder);
    store.record_heartbeat("w".into()).await.unwrap();
    let mut job = start_job(&store, "a", 3).await;
    let next = open(&folder);
    let dead = vec![ObservedHeartbeat { worker: "w".into(), heartbeats: 1 }];
    let pass = ReconcileRequest { dead, limit: 9, resume: ResumeOverride::OnRequest };
    let left = next.reconcile_dead_owners(pass).await.unwrap();
    assert!(left[0].resume_available);
    assert_eq!(trace_rows(&folder), "3");
    let run = next.list_runs(None, 9).await.unwrap().remove(0);
    assert_eq!((run.state, run.usd_micros), (RunState::TimedOut, Some(3_000)));
    // The run continues elsewhere: its first rows say so, and are written.
    let claim = next.claim_lane(lane("a"), "w".into(), None).await.unwrap();
    job.epoch = claim.epoch;
    next.append(job.turn()).await.unwrap();
    assert_eq!(trace_rows(&folder), "4");
    let run = next.list_runs(None, 9).await.unwrap().remove(0);
    assert_eq!((run.state, run.resume_available), (RunState::Running, false));
}

#[tokio::test]
async fn rows_of_another_run_are_written_at_once() {
    let folder = folder();
    let store = open(&folder);
    let mut job = start_job(&store, "a", 2).await;
    let mut foreign = RunningJob::new("b", job.epoch, job.head);
    let mut append = foreign.turn();
    append.lane = lane("a");
    append.active_run = Some(job.run.clone());
    // Two active runs: refused, and the deferred rows stay where they are.
    store.append(append).await.unwrap_err();
    assert_eq!(trace_rows(&folder), "0");
    store.append(job.end()).await.unwrap();
    assert_eq!(trace_rows(&folder), "3");
}

#[tokio::test]
async fn damaged_rows_do_not_stop_the_conversation() {
    let folder = folder();
    let store = open(&folder);
    let mut job = start_job(&store, "a", 3).await;
    let raw = Connection::open(file(&folder)).unwrap();
    let damaged =
        "UPDATE entry SET rows = CASE seq WHEN 3 THEN 'x' ELSE '[\"r\",[[\"run\",[1]]]]' END
        WHERE seq IN (3, 5) AND rows IS NOT NULL";
    assert_eq!(raw.execute(damaged, []).unwrap(), 2);
    store.append(job.end()).await.unwrap();
    assert_eq!(trace_rows(&folder), "2");
    let run = store.list_runs(None, 9).await.unwrap().remove(0);
    assert_eq!(run.state, RunState::Completed);
}

/// A durable turn writes its entries, the place where they are found, the lane, and little else.
#[tokio::test]
async fn a_turn_writes_few_pages() {
    const TURNS: usize = 60;
    let folder = folder();
    let store = open(&folder);
    let mut job = start_job(&store, "a", 3).await;
    let log = || folder.path().join("windlass.db-wal").metadata().unwrap().len();
    let before = log();
    for _ in 0..TURNS {
        store.append(job.turn()).await.unwrap();
    }
    store.append(job.end()).await.unwrap();
    let pages = (log() - before) as f64 / LOGGED_PAGE_BYTES as f64 / TURNS as f64;
    assert!(pages < 6.0, "{pages:.1} pages per turn");
}
