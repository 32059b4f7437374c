//! The rows that are written with entries, gathered for the tables that people and dashboards read.

use std::borrow::Cow;

use windlass_core::log::ids::{RunId, UnixMillis};
use windlass_core::projection::{
    CheckpointRow, EventRow, RawRow, Row, RunDescription, RunRow, ToolResultRow, TraceRow,
};
use windlass_core::settings::conversation_settings::ResumePolicy;

use super::append_batch::EncodedAppend;
use super::append_statement::columns;
use crate::column_values;

/// The last millisecond of the year 9999; PostgreSQL rejects later times.
const MAX_TIMESTAMP_MS: u64 = 253_402_300_799_999;

columns!(
    /// Columns of the table `run`.
    RunColumns {
        ord: i64,
        pos: i64,
        run_id: Cow<'r, str>,
        state: Cow<'r, str>,
        active: bool,
        cause: Option<Cow<'r, str>>,
        other_causes: Option<Cow<'r, str>>,
        text: Option<Cow<'r, str>>,
        tool_rounds: i64,
        model_calls: i64,
        tool_calls: i64,
        input_tokens: i64,
        output_tokens: i64,
        cache_read: i64,
        cache_write: i64,
        at: i64,
        usd_micros: Option<i64>,
        prompt: Option<Cow<'r, str>>,
        folder: Option<Cow<'r, str>>,
        agent: Option<Cow<'r, str>>,
        profile: Option<Cow<'r, str>>,
        model: Option<Cow<'r, str>>,
        cancel_requested: bool,
        resume_policy: Option<Cow<'r, str>>,
    }
);

columns!(
    /// Columns of the tables `agent_loop_trace` and `agent_loop_iteration`.
    TraceColumns {
        ord: i64,
        pos: i64,
        job_id: Cow<'r, str>,
        iter: i64,
        stop_reason: Cow<'r, str>,
        calls: Cow<'r, str>,
        input_tokens: i64,
        output_tokens: i64,
        cache_read: i64,
        cache_write: i64,
        ms: Option<i64>,
        transition: Cow<'r, str>,
        model: Option<Cow<'r, str>>,
        reply_stop_reason: Option<Cow<'r, str>>,
        tool_rounds: Option<i64>,
        model_calls: Option<i64>,
        tool_calls: Option<i64>,
    }
);

columns!(
    /// Columns of the table `agent_tool_results`.
    ToolResultColumns {
        ord: i64,
        pos: i64,
        run_id: Cow<'r, str>,
        tool_call_id: Cow<'r, str>,
        call: Cow<'r, str>,
        tool: Cow<'r, str>,
        started_at: Option<i64>,
        completed_at: Option<i64>,
        outcome: Option<Cow<'r, str>>,
        result_seq: Option<i64>,
        attempts: i64,
    }
);

columns!(
    /// Columns of the table `checkpoint`.
    CheckpointColumns {
        ord: i64,
        seq: i64,
        run_id: Cow<'r, str>,
        kind: Cow<'r, str>,
        iteration: i64,
        message_cursor: i64,
        persisted_messages: i64,
        prompt_hash: Option<Cow<'r, str>>,
        completed_calls: Option<Cow<'r, str>>,
    }
);

columns!(
    /// Columns of the table `event`.
    EventColumns {
        ord: i64,
        pos: i64,
        seq: i64,
        run_id: Option<Cow<'r, str>>,
        at: i64,
        name: Cow<'r, str>,
        fields: Cow<'r, str>,
        agent: Cow<'r, str>,
        profile: Cow<'r, str>,
    }
);

columns!(
    /// Columns of the table `raw_response`.
    RawResponseColumns {
        ord: i64,
        pos: i64,
        seq: i64,
        run_id: Option<Cow<'r, str>>,
        at: i64,
        body: Cow<'r, str>,
        response: Option<Cow<'r, str>>,
    }
);

/// The rows of a batch, as columns.
#[derive(Debug, Default)]
pub(super) struct RowColumns<'r> {
    pub(super) runs: RunColumns<'r>,
    pub(super) traces: TraceColumns<'r>,
    pub(super) results: ToolResultColumns<'r>,
    pub(super) checkpoints: CheckpointColumns<'r>,
    pub(super) events: EventColumns<'r>,
    pub(super) raws: RawResponseColumns<'r>,
    pos: i64,
}

/// The latest row of a run, merged with the description that its earlier rows gave.
struct LatestRun<'r> {
    row: &'r RunRow,
    other_causes: Option<&'r str>,
    description: RunDescription,
}

/// The rows of one append that replace each other: one statement may touch a row only once.
#[derive(Default)]
struct LatestRows<'r> {
    runs: Vec<LatestRun<'r>>,
    results: Vec<ToolResultRow>,
    checkpoints: Vec<(&'r CheckpointRow, Option<&'r str>)>,
}

impl<'r> RowColumns<'r> {
    /// Adds the rows of an append.
    pub(super) fn add_append_rows(&mut self, ord: i64, prepared: &'r EncodedAppend) {
        let mut latest = LatestRows::default();
        for (row, list) in prepared.append.rows.iter().zip(&prepared.lists) {
            let list = list.as_deref();
            match row {
                Row::Run(run) => latest.merge_run(run, list),
                Row::Trace(trace) => self.push_trace(ord, trace, list, &latest),
                Row::ToolResult(result) => latest.merge_result(result),
                Row::Checkpoint(checkpoint) => latest.merge_checkpoint(checkpoint, list),
                Row::Event(event) => self.push_event(ord, event),
                Row::Raw(raw) => self.push_raw_response(ord, raw),
            }
        }
        latest.runs.into_iter().for_each(|run| self.push_run(ord, run));
        latest.results.into_iter().for_each(|result| self.push_result(ord, result));
        for (checkpoint, calls) in latest.checkpoints {
            self.push_checkpoint(ord, checkpoint, calls);
        }
    }

    fn next_position(&mut self) -> i64 {
        self.pos += 1;
        self.pos
    }

    fn push_run(&mut self, ord: i64, run: LatestRun<'r>) {
        let LatestRun { row, other_causes, description } = run;
        let pos = self.next_position();
        let (runs, counters) = (&mut self.runs, &row.counters);
        runs.ord.push(ord);
        runs.pos.push(pos);
        runs.run_id.push(replace_nul(row.run.as_str()));
        runs.state.push(Cow::Borrowed(column_values::state_name(row.state)));
        runs.active.push(column_values::is_active(row.state));
        runs.cause.push(row.cause.map(|cause| Cow::Owned(column_values::cause_name(cause))));
        runs.other_causes.push(other_causes.map(replace_nul));
        runs.text.push(row.text.as_deref().map(replace_nul));
        runs.tool_rounds.push(counters.tool_rounds.into());
        runs.model_calls.push(counters.model_calls.into());
        runs.tool_calls.push(counters.tool_calls.into());
        runs.input_tokens.push(column_values::saturating_column(counters.usage.input_tokens));
        runs.output_tokens.push(column_values::saturating_column(counters.usage.output_tokens));
        runs.cache_read.push(column_values::saturating_column(counters.usage.cache_read_tokens));
        runs.cache_write.push(column_values::saturating_column(counters.usage.cache_write_tokens));
        runs.at.push(millis_column(row.at));
        runs.usd_micros.push(row.usd_micros.map(u64::cast_signed));
        runs.prompt.push(description.prompt.as_deref().map(owned_without_nul));
        runs.folder.push(description.folder.as_deref().map(owned_without_nul));
        runs.agent.push(description.agent.as_deref().map(owned_without_nul));
        runs.profile.push(description.profile.as_deref().map(owned_without_nul));
        runs.model.push(description.model.as_deref().map(owned_without_nul));
        runs.cancel_requested.push(row.cancel_requested);
        let policy = description.resume.map(ResumePolicy::as_str);
        runs.resume_policy.push(policy.map(Cow::Borrowed));
    }

    /// Adds a trace row with the run's counters as of this row: from the same append, else from the
    /// run's own row.
    fn push_trace(
        &mut self,
        ord: i64,
        row: &'r TraceRow,
        calls: Option<&'r str>,
        latest: &LatestRows<'_>,
    ) {
        let pos = self.next_position();
        let traces = &mut self.traces;
        let counters = latest.find_run(&row.run).map(|run| &run.counters);
        traces.ord.push(ord);
        traces.pos.push(pos);
        traces.job_id.push(replace_nul(row.run.as_str()));
        traces.iter.push(row.iter.into());
        traces.stop_reason.push(replace_nul(&row.stop_reason));
        traces.calls.push(calls.map_or(Cow::Borrowed("[]"), Cow::Borrowed));
        traces.input_tokens.push(column_values::trace_column_count(row.usage.input_tokens));
        traces.output_tokens.push(column_values::trace_column_count(row.usage.output_tokens));
        traces.cache_read.push(column_values::trace_column_count(row.usage.cache_read_tokens));
        traces.cache_write.push(column_values::trace_column_count(row.usage.cache_write_tokens));
        traces.ms.push((row.at.0 <= MAX_TIMESTAMP_MS).then(|| millis_column(row.at)));
        traces.transition.push(Cow::Borrowed(row.transition));
        traces.model.push(row.model.as_deref().map(replace_nul));
        traces.reply_stop_reason.push(row.reply_stop_reason.as_deref().map(replace_nul));
        traces.tool_rounds.push(counters.map(|counters| counters.tool_rounds.into()));
        traces.model_calls.push(counters.map(|counters| counters.model_calls.into()));
        traces.tool_calls.push(counters.map(|counters| counters.tool_calls.into()));
    }

    fn push_result(&mut self, ord: i64, row: ToolResultRow) {
        let pos = self.next_position();
        let results = &mut self.results;
        results.ord.push(ord);
        results.pos.push(pos);
        results.run_id.push(owned_without_nul(row.run.as_str()));
        results.tool_call_id.push(owned_without_nul(&row.tool_call_id));
        results.call.push(owned_without_nul(&row.call));
        results.tool.push(owned_without_nul(&row.tool));
        results.started_at.push(row.started_at.map(millis_column));
        results.completed_at.push(row.completed_at.map(millis_column));
        results.outcome.push(row.outcome.as_deref().map(owned_without_nul));
        results.result_seq.push(row.result_seq.map(u64::cast_signed));
        results.attempts.push(row.attempts.into());
    }

    fn push_checkpoint(&mut self, ord: i64, row: &'r CheckpointRow, calls: Option<&'r str>) {
        let checkpoints = &mut self.checkpoints;
        checkpoints.ord.push(ord);
        checkpoints.seq.push(row.seq.cast_signed());
        checkpoints.run_id.push(replace_nul(row.run.as_str()));
        checkpoints.kind.push(Cow::Borrowed(row.kind.as_str()));
        checkpoints.iteration.push(row.iteration.into());
        checkpoints.message_cursor.push(row.message_cursor.cast_signed());
        checkpoints
            .persisted_messages
            .push(column_values::saturating_column(row.persisted_messages));
        checkpoints.prompt_hash.push(row.prompt_hash.as_deref().map(replace_nul));
        checkpoints.completed_calls.push(calls.map(replace_nul));
    }

    fn push_event(&mut self, ord: i64, row: &'r EventRow) {
        let pos = self.next_position();
        let events = &mut self.events;
        events.ord.push(ord);
        events.pos.push(pos);
        events.seq.push(row.seq.cast_signed());
        events.run_id.push(row.run.as_ref().map(|run| replace_nul(run.as_str())));
        events.at.push(millis_column(row.at));
        events.name.push(replace_nul(row.name));
        events.fields.push(replace_nul(row.fields.text()));
        events.agent.push(replace_nul(&row.agent));
        events.profile.push(replace_nul(&row.profile));
    }

    fn push_raw_response(&mut self, ord: i64, row: &'r RawRow) {
        let pos = self.next_position();
        let raws = &mut self.raws;
        raws.ord.push(ord);
        raws.pos.push(pos);
        raws.seq.push(row.seq.cast_signed());
        raws.run_id.push(row.run.as_ref().map(|run| replace_nul(run.as_str())));
        raws.at.push(millis_column(row.at));
        raws.body.push(replace_nul(row.body.text()));
        raws.response.push(row.response.as_deref().map(replace_nul));
    }
}

impl<'r> LatestRows<'r> {
    /// Merges a row into its run, which keeps the position of its first row and takes the latest
    /// values.
    fn merge_run(&mut self, row: &'r RunRow, other_causes: Option<&'r str>) {
        let description = row.description.clone();
        match self.runs.iter_mut().find(|known| known.row.run == row.run) {
            Some(known) => {
                let description = description.with_defaults_from(&known.description);
                *known = LatestRun { row, other_causes, description };
            }
            None => self.runs.push(LatestRun { row, other_causes, description }),
        }
    }

    fn find_run(&self, run: &RunId) -> Option<&'r RunRow> {
        self.runs.iter().map(|known| known.row).find(|row| row.run == *run)
    }

    fn merge_result(&mut self, row: &ToolResultRow) {
        let same = |known: &&mut ToolResultRow| {
            known.run == row.run && known.tool_call_id == row.tool_call_id && known.call == row.call
        };
        match self.results.iter_mut().find(same) {
            Some(known) => {
                let started_at = row.started_at.or(known.started_at);
                let attempts = row.attempts.max(known.attempts);
                *known = ToolResultRow { started_at, attempts, ..row.clone() };
            }
            None => self.results.push(row.clone()),
        }
    }

    fn merge_checkpoint(&mut self, row: &'r CheckpointRow, calls: Option<&'r str>) {
        match self.checkpoints.iter_mut().find(|(known, _)| known.seq == row.seq) {
            Some(known) => *known = (row, calls),
            None => self.checkpoints.push((row, calls)),
        }
    }
}

fn owned_without_nul(text: &str) -> Cow<'static, str> {
    Cow::Owned(replace_nul(text).into_owned())
}

pub(super) fn millis_column(at: UnixMillis) -> i64 {
    at.0.cast_signed()
}

const NUL_SYMBOL: &str = "\u{2400}";

pub(super) fn replace_nul(text: &str) -> Cow<'_, str> {
    match text.contains('\0') {
        false => Cow::Borrowed(text),
        true => Cow::Owned(text.replace('\0', NUL_SYMBOL)),
    }
}
