//! The rows that travel with entries, gathered for the tables people and dashboards read.

use std::borrow::Cow;

use windlass_core::ids::{Millis, RunId};
use windlass_core::project::{
    CheckpointRow, EventRow, RawRow, Row, RunDescription, RunRow, ToolResultRow, TraceRow,
};
use windlass_core::settings::ResumePolicy;

use super::columns::columns;
use super::prepare::Prepared;
use super::text::shown;
use crate::names;

/// The last millisecond of the year 9999: later times are nobody's, and the database refuses them.
const LAST_TIME: u64 = 253_402_300_799_999;

columns!(
    /// `run`.
    Runs {
        ord: i64,
        pos: i64,
        run_id: Cow<'r, str>,
        state: Cow<'r, str>,
        active: bool,
        cause: Option<Cow<'r, str>>,
        also: Option<Cow<'r, str>>,
        said: Option<Cow<'r, str>>,
        tool_rounds: i64,
        model_calls: i64,
        tool_calls: i64,
        input_tokens: i64,
        output_tokens: i64,
        cache_read: i64,
        cache_write: i64,
        happened: i64,
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
    /// `agent_loop_trace` and `agent_loop_iteration`.
    Traces {
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
    /// `agent_tool_results`.
    Results {
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
    /// `checkpoint`.
    Checkpoints {
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
    /// `event`.
    Events {
        ord: i64,
        pos: i64,
        seq: i64,
        run_id: Option<Cow<'r, str>>,
        happened: i64,
        name: Cow<'r, str>,
        fields: Cow<'r, str>,
        agent: Cow<'r, str>,
        profile: Cow<'r, str>,
    }
);

columns!(
    /// `raw_response`.
    Raws {
        ord: i64,
        pos: i64,
        seq: i64,
        run_id: Option<Cow<'r, str>>,
        happened: i64,
        body: Cow<'r, str>,
    }
);

/// The rows of a batch.
#[derive(Debug, Default)]
pub(super) struct Rows<'r> {
    pub(super) runs: Runs<'r>,
    pub(super) traces: Traces<'r>,
    pub(super) results: Results<'r>,
    pub(super) checkpoints: Checkpoints<'r>,
    pub(super) events: Events<'r>,
    pub(super) raws: Raws<'r>,
    pos: i64,
}

/// What was said last of a run, and what any of its rows said that it is about.
struct LatestRun<'r> {
    row: &'r RunRow,
    also: Option<&'r str>,
    description: RunDescription,
}

/// The rows of one append that replace each other: one statement may touch a row only once.
#[derive(Default)]
struct Latest<'r> {
    runs: Vec<LatestRun<'r>>,
    results: Vec<ToolResultRow>,
    checkpoints: Vec<(&'r CheckpointRow, Option<&'r str>)>,
}

impl<'r> Rows<'r> {
    /// Adds the rows of an append.
    pub(super) fn add(&mut self, ord: i64, prepared: &'r Prepared) {
        let mut latest = Latest::default();
        for (row, list) in prepared.append.rows.iter().zip(&prepared.lists) {
            let list = list.as_deref();
            match row {
                Row::Run(run) => latest.run(run, list),
                Row::Trace(trace) => self.trace(ord, trace, list, &latest),
                Row::ToolResult(result) => latest.result(result),
                Row::Checkpoint(checkpoint) => latest.checkpoint(checkpoint, list),
                Row::Event(event) => self.event(ord, event),
                Row::Raw(raw) => self.raw(ord, raw),
            }
        }
        latest.runs.into_iter().for_each(|run| self.run(ord, run));
        latest.results.into_iter().for_each(|result| self.result(ord, result));
        for (checkpoint, calls) in latest.checkpoints {
            self.checkpoint(ord, checkpoint, calls);
        }
    }

    fn next(&mut self) -> i64 {
        self.pos += 1;
        self.pos
    }

    fn run(&mut self, ord: i64, run: LatestRun<'r>) {
        let LatestRun { row, also, description } = run;
        let pos = self.next();
        let (runs, counters) = (&mut self.runs, &row.counters);
        runs.ord.push(ord);
        runs.pos.push(pos);
        runs.run_id.push(shown(row.run.as_str()));
        runs.state.push(Cow::Borrowed(names::state(row.state)));
        runs.active.push(names::is_active(row.state));
        runs.cause.push(row.cause.map(|cause| Cow::Owned(names::cause(cause))));
        runs.also.push(also.map(shown));
        runs.said.push(row.text.as_deref().map(shown));
        runs.tool_rounds.push(counters.tool_rounds.into());
        runs.model_calls.push(counters.model_calls.into());
        runs.tool_calls.push(counters.tool_calls.into());
        runs.input_tokens.push(names::count(counters.usage.input_tokens));
        runs.output_tokens.push(names::count(counters.usage.output_tokens));
        runs.cache_read.push(names::count(counters.usage.cache_read_tokens));
        runs.cache_write.push(names::count(counters.usage.cache_write_tokens));
        runs.happened.push(signed(row.at));
        runs.usd_micros.push(row.usd_micros.map(u64::cast_signed));
        runs.prompt.push(description.prompt.as_deref().map(owned));
        runs.folder.push(description.folder.as_deref().map(owned));
        runs.agent.push(description.agent.as_deref().map(owned));
        runs.profile.push(description.profile.as_deref().map(owned));
        runs.model.push(description.model.as_deref().map(owned));
        runs.cancel_requested.push(row.cancel_requested);
        let policy = description.resume.map(ResumePolicy::as_str);
        runs.resume_policy.push(policy.map(Cow::Borrowed));
    }

    /// The run's counters as of this row: from the same append, else from the run's own row.
    fn trace(&mut self, ord: i64, row: &'r TraceRow, calls: Option<&'r str>, latest: &Latest<'_>) {
        let pos = self.next();
        let traces = &mut self.traces;
        let counters = latest.find_run(&row.run).map(|run| &run.counters);
        traces.ord.push(ord);
        traces.pos.push(pos);
        traces.job_id.push(shown(row.run.as_str()));
        traces.iter.push(row.iter.into());
        traces.stop_reason.push(shown(&row.stop_reason));
        traces.calls.push(calls.map_or(Cow::Borrowed("[]"), Cow::Borrowed));
        traces.input_tokens.push(names::trace_count(row.usage.input_tokens));
        traces.output_tokens.push(names::trace_count(row.usage.output_tokens));
        traces.cache_read.push(names::trace_count(row.usage.cache_read_tokens));
        traces.cache_write.push(names::trace_count(row.usage.cache_write_tokens));
        traces.ms.push((row.at.0 <= LAST_TIME).then(|| signed(row.at)));
        traces.transition.push(Cow::Borrowed(row.transition));
        traces.model.push(row.model.as_deref().map(shown));
        traces.reply_stop_reason.push(row.reply_stop_reason.as_deref().map(shown));
        traces.tool_rounds.push(counters.map(|counters| counters.tool_rounds.into()));
        traces.model_calls.push(counters.map(|counters| counters.model_calls.into()));
        traces.tool_calls.push(counters.map(|counters| counters.tool_calls.into()));
    }

    fn result(&mut self, ord: i64, row: ToolResultRow) {
        let pos = self.next();
        let results = &mut self.results;
        results.ord.push(ord);
        results.pos.push(pos);
        results.run_id.push(owned(row.run.as_str()));
        results.tool_call_id.push(owned(&row.tool_call_id));
        results.call.push(owned(&row.call));
        results.tool.push(owned(&row.tool));
        results.started_at.push(row.started_at.map(signed));
        results.completed_at.push(row.completed_at.map(signed));
        results.outcome.push(row.outcome.as_deref().map(owned));
        results.result_seq.push(row.result_seq.map(u64::cast_signed));
        results.attempts.push(row.attempts.into());
    }

    fn checkpoint(&mut self, ord: i64, row: &'r CheckpointRow, calls: Option<&'r str>) {
        let checkpoints = &mut self.checkpoints;
        checkpoints.ord.push(ord);
        checkpoints.seq.push(row.seq.cast_signed());
        checkpoints.run_id.push(shown(row.run.as_str()));
        checkpoints.kind.push(Cow::Borrowed(row.kind.as_str()));
        checkpoints.iteration.push(row.iteration.into());
        checkpoints.message_cursor.push(row.message_cursor.cast_signed());
        checkpoints.persisted_messages.push(names::count(row.persisted_messages));
        checkpoints.prompt_hash.push(row.prompt_hash.as_deref().map(shown));
        checkpoints.completed_calls.push(calls.map(shown));
    }

    fn event(&mut self, ord: i64, row: &'r EventRow) {
        let pos = self.next();
        let events = &mut self.events;
        events.ord.push(ord);
        events.pos.push(pos);
        events.seq.push(row.seq.cast_signed());
        events.run_id.push(row.run.as_ref().map(|run| shown(run.as_str())));
        events.happened.push(signed(row.at));
        events.name.push(shown(row.name));
        events.fields.push(shown(row.fields.text()));
        events.agent.push(shown(&row.agent));
        events.profile.push(shown(&row.profile));
    }

    fn raw(&mut self, ord: i64, row: &'r RawRow) {
        let pos = self.next();
        let raws = &mut self.raws;
        raws.ord.push(ord);
        raws.pos.push(pos);
        raws.seq.push(row.seq.cast_signed());
        raws.run_id.push(row.run.as_ref().map(|run| shown(run.as_str())));
        raws.happened.push(signed(row.at));
        raws.body.push(shown(row.body.text()));
    }
}

impl<'r> Latest<'r> {
    /// A run keeps the place where it first appeared, with what was said of it last.
    fn run(&mut self, row: &'r RunRow, also: Option<&'r str>) {
        let description = row.description.clone();
        match self.runs.iter_mut().find(|known| known.row.run == row.run) {
            Some(known) => {
                let description = description.or(&known.description);
                *known = LatestRun { row, also, description };
            }
            None => self.runs.push(LatestRun { row, also, description }),
        }
    }

    fn find_run(&self, run: &RunId) -> Option<&'r RunRow> {
        self.runs.iter().map(|known| known.row).find(|row| row.run == *run)
    }

    fn result(&mut self, row: &ToolResultRow) {
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

    fn checkpoint(&mut self, row: &'r CheckpointRow, calls: Option<&'r str>) {
        match self.checkpoints.iter_mut().find(|(known, _)| known.seq == row.seq) {
            Some(known) => *known = (row, calls),
            None => self.checkpoints.push((row, calls)),
        }
    }
}

fn owned(text: &str) -> Cow<'static, str> {
    Cow::Owned(shown(text).into_owned())
}

pub(super) fn signed(at: Millis) -> i64 {
    at.0.cast_signed()
}
