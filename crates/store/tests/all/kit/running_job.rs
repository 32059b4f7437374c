//! Appends of a run as a driver makes them: it starts, takes turns and ends.

use std::sync::Arc;

use windlass_core::log::ids::{Epoch, RunId, Seq, UnixMillis};
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::TokenUsage;
use windlass_core::projection::{
    CheckpointKind, CheckpointRow, EventRow, RawRow, Row, RunDescription, RunRow, ToolResultRow,
    TraceCall, TraceRow,
};
use windlass_core::run::active_run::RunCounters;
use windlass_core::stop::{RunState, StopCause};
use windlass_runtime::ports::{AppendRequest, EncodedEntry, Store};

use super::append_one;

/// A run on a lane that is owned by worker `w`.
#[derive(Clone)]
pub(crate) struct RunningJob {
    pub(crate) lane: String,
    pub(crate) run: RunId,
    pub(crate) epoch: Epoch,
    pub(crate) head: Seq,
    turns: u32,
}

impl RunningJob {
    pub(crate) fn new(lane: &str, epoch: Epoch, head: Seq) -> Self {
        let run = RunId::from_name(&format!("{lane}:{head}"));
        Self { lane: lane.to_owned(), run, epoch, head, turns: 0 }
    }

    pub(crate) fn start(&mut self) -> AppendRequest {
        let mut row = self.run_row(RunState::Running);
        row.description.prompt = Some("count the lines".into());
        self.append(vec![Row::Run(row)], 1)
    }

    /// A turn with two calls: an entry with the reply, and one with the results.
    pub(crate) fn turn(&mut self) -> AppendRequest {
        self.turns += 1;
        let (seq, turns) = (self.head + 2, self.turns);
        let results = (0..2).map(|index| Row::ToolResult(self.result_row(seq, index)));
        let mut rows: Vec<_> = results.collect();
        rows.push(Row::Trace(self.trace_row("tool_use")));
        rows.push(Row::Event(EventRow {
            run: Some(self.run.clone()),
            agent: "helper".into(),
            profile: "".into(),
            seq,
            at: UnixMillis(seq),
            name: "agent.tool.retry",
            fields: RawJson::encode(
                &serde_json::json!({"attempt": turns, "text": "\u{1F980}\"\n"}),
            ),
        }));
        rows.push(Row::Run(self.run_row(RunState::Running)));
        rows.push(Row::Checkpoint(CheckpointRow {
            run: self.run.clone(),
            seq,
            kind: CheckpointKind::ToolResult,
            iteration: turns,
            message_cursor: 6,
            persisted_messages: 9,
            prompt_hash: Some("cd".into()),
            completed_calls: vec!["toolu_1".into()],
        }));
        rows.push(Row::Raw(RawRow {
            run: Some(self.run.clone()),
            seq: self.head + 1,
            at: UnixMillis(self.head + 1),
            body: RawJson::string("r"),
            response: Some(Arc::from("event: message_start\n".repeat(20))),
        }));
        self.append(rows, 2)
    }

    /// Waits for a human, which is another state of the run.
    pub(crate) fn park(&mut self) -> AppendRequest {
        let row = self.run_row(RunState::WaitingOnHuman);
        self.append(vec![Row::Run(row)], 1)
    }

    pub(crate) fn end(&mut self) -> AppendRequest {
        self.turns += 1;
        let mut row = self.run_row(RunState::Completed);
        row.cause = Some(StopCause::EndTurn);
        row.text = Some("done".into());
        let rows = vec![Row::Trace(self.trace_row("end_turn")), Row::Run(row)];
        AppendRequest { active_run: None, ..self.append(rows, 1) }
    }

    fn append(&mut self, rows: Vec<Row>, entries: u64) -> AppendRequest {
        let (lane, head) = (self.lane.clone(), self.head);
        self.head += entries;
        let entry = |seq| EncodedEntry {
            seq,
            at: UnixMillis(seq),
            line: Arc::from(format!("{{\"{seq}\":\"{}\"}}", "x".repeat(900))),
        };
        AppendRequest {
            entries: (head + 1..=self.head).map(entry).collect(),
            rows,
            active_run: Some(self.run.clone()),
            ..append_one(&lane, self.epoch, head, "")
        }
    }

    fn run_row(&self, state: RunState) -> RunRow {
        let counters = RunCounters {
            tool_rounds: self.turns,
            model_calls: self.turns,
            tool_calls: 2 * self.turns,
            ..RunCounters::default()
        };
        RunRow {
            run: self.run.clone(),
            state,
            cause: None,
            other_causes: Vec::new(),
            text: None,
            counters,
            usd_micros: Some(u64::from(self.turns) * 1_000),
            description: RunDescription::default(),
            cancel_requested: false,
            at: UnixMillis(self.head + 1),
        }
    }

    fn trace_row(&self, stop_reason: &str) -> TraceRow {
        let call = TraceCall {
            name: "Read".into(),
            input_hash: "ab".repeat(32),
            ms: 12,
            ok: true,
            outcome: "done",
        };
        TraceRow {
            run: self.run.clone(),
            iter: self.turns,
            stop_reason: stop_reason.into(),
            reply_stop_reason: None,
            model: Some("m".into()),
            tool_calls: vec![call],
            usage: TokenUsage { input_tokens: u64::MAX, ..TokenUsage::default() },
            transition: "tool_results",
            at: UnixMillis(1_790_000_000_123),
        }
    }

    /// The provider gives both calls of a turn the same id.
    fn result_row(&self, seq: Seq, index: u32) -> ToolResultRow {
        ToolResultRow {
            run: self.run.clone(),
            tool_call_id: format!("toolu_{}", self.turns).into(),
            call: format!("{}.{index}", self.turns),
            tool: "Read".into(),
            started_at: Some(UnixMillis(seq)),
            completed_at: Some(UnixMillis(seq)),
            outcome: Some("done".to_owned()),
            attempts: 1,
            result_seq: Some(seq),
        }
    }
}

/// Starts a job on a new lane and takes turns.
pub(crate) async fn start_job(store: &dyn Store, lane: &str, turns: usize) -> RunningJob {
    let epoch = super::claim_new_lane(store, lane).await;
    let mut job = RunningJob::new(lane, epoch, 0);
    store.append(job.start()).await.unwrap();
    for _ in 0..turns {
        store.append(job.turn()).await.unwrap();
    }
    job
}
