//! The column of iterations: one row per model call, the last of a run with the reason of its end.

mod words;

use std::sync::Arc;

use serde::Serialize;
use windlass::core::ids::{Millis, RunId};
use windlass::core::project::{Row, TraceCall, TraceRow};
use windlass::core::reply::Usage;

use super::numbers::grouped;
use super::paper::{Ink, Paper, clean, cut};
use super::story::Story;
use super::time;
use super::words::stored_name;

/// Characters of a row without the calls.
const FIXED: usize = 58;

/// Characters that the calls need beside the rest of a row.
const LEAST_ROOM: usize = 16;

/// Blanks before a call that stands below its row.
const STACKED_INDENT: usize = 5;

/// The trace of a run.
pub(crate) struct Trace {
    /// Which run.
    pub(crate) run: RunId,
    /// Its rows.
    pub(crate) rows: Vec<TraceRow>,
    /// The iteration that is not over.
    open: Option<Open>,
    /// Why it ended, or what it does.
    pub(crate) closing: String,
}

/// An iteration that is not over: what is known of it so far.
struct Open {
    iter: u32,
    transition: Arc<str>,
    calls: Vec<String>,
}

#[derive(Serialize)]
struct Line<'a> {
    run: &'a str,
    iter: u32,
    at_ms: u64,
    transition: &'a str,
    tool_calls: &'a [TraceCall],
    input_tokens: u64,
    output_tokens: u64,
    cache_read: u64,
    cache_write: u64,
    stop_reason: &'a str,
    reply_stop_reason: Option<&'a str>,
    model: Option<&'a str>,
}

/// The traces of all runs of a story, or of one.
pub(crate) fn traces(story: &Story, only: Option<&RunId>) -> Vec<Trace> {
    let rows: Vec<TraceRow> = story.rows(0).into_iter().filter_map(trace_row).collect();
    let runs = story.runs().into_iter().filter(|run| only.is_none_or(|only| only == run));
    let trace = |run: RunId| {
        let rows = rows.iter().filter(|row| row.run == run).cloned().collect();
        Trace { closing: words::closing(story, &run), open: open(story, &run), run, rows }
    };
    runs.map(trace).collect()
}

/// The iteration in which an active run stands.
fn open(story: &Story, run: &RunId) -> Option<Open> {
    let active = story.now.run.as_ref().filter(|active| active.id == *run)?;
    let iter = active.counters.iterations;
    if let Some(asking) = active.asking() {
        let transition = stored_name(&asking.transition);
        return Some(Open { iter, transition, calls: Vec::new() });
    }
    let transition = story.now.last_reply.as_ref().map(|last| stored_name(&last.transition))?;
    let calls = active.round()?.calls.iter().map(words::open_call).collect();
    Some(Open { iter, transition, calls })
}

fn trace_row(row: Row) -> Option<TraceRow> {
    match row {
        Row::Trace(row) => Some(row),
        Row::Run(_) | Row::ToolResult(_) | Row::Checkpoint(_) | Row::Event(_) | Row::Raw(_) => None,
    }
}

impl Trace {
    /// Each row as JSON.
    pub(crate) fn json(&self) -> serde_json::Result<Vec<serde_json::Value>> {
        let line = |row: &TraceRow| {
            serde_json::to_value(Line {
                run: self.run.as_str(),
                iter: row.iter,
                at_ms: row.at.0,
                transition: row.transition,
                tool_calls: &row.tool_calls,
                input_tokens: row.usage.input_tokens,
                output_tokens: row.usage.output_tokens,
                cache_read: row.usage.cache_read_tokens,
                cache_write: row.usage.cache_write_tokens,
                stop_reason: &row.stop_reason,
                reply_stop_reason: row.reply_stop_reason.as_deref(),
                model: row.model.as_deref(),
            })
        };
        self.rows.iter().map(line).collect()
    }

    /// The rows as a table, and the closing line.
    pub(crate) fn table(&self, paper: Paper) -> Vec<String> {
        let first = self.rows.first().map_or(Millis(0), |row| row.at);
        if paper.width() < FIXED + LEAST_ROOM {
            return self.stacked(paper, first);
        }
        let room = paper.width().saturating_sub(FIXED);
        let mut lines = vec![paper.ink(Ink::Faint, &words::heading(room, first))];
        for row in &self.rows {
            lines.extend(in_lines(row, room));
        }
        if let Some(open) = &self.open {
            lines.extend(open.in_lines(room));
        }
        lines.extend(words::models(&self.rows));
        lines.extend(words::unknown_reason(&self.rows));
        lines.push(self.closing.clone());
        lines
    }

    /// The same for a narrow terminal: the calls stand below their row.
    fn stacked(&self, paper: Paper, first: Millis) -> Vec<String> {
        let below = |told: &[String]| -> Vec<String> {
            told.iter().map(|call| paper.wrap(call, STACKED_INDENT)).collect()
        };
        let mut lines = vec![paper.ink(Ink::Faint, &words::stacked_heading(first))];
        for row in &self.rows {
            let told: Vec<String> = row.tool_calls.iter().map(words::call).collect();
            let (input, output) = tokens(&row.usage);
            lines.push(paper.wrap(&words::stacked_row(row, &input, &output), 0));
            lines.extend(below(&told));
        }
        if let Some(open) = &self.open {
            lines.push(paper.wrap(&format!("{:>4} open     {}", open.iter, open.transition), 0));
            lines.extend(below(&open.calls));
        }
        lines.push(paper.wrap(&self.closing, 0));
        lines
    }
}

/// Input tokens with those of the cache, and output tokens.
fn tokens(usage: &Usage) -> (String, String) {
    let cached = usage.cache_read_tokens.saturating_add(usage.cache_write_tokens);
    (grouped(usage.input_tokens.saturating_add(cached)), grouped(usage.output_tokens))
}

impl Open {
    fn in_lines(&self, room: usize) -> Vec<String> {
        let calls = cells(&self.calls, room);
        let first = calls.first().map_or("", String::as_str);
        let head = format!("{:>4} {:<8} {:<16} {first}", self.iter, "open", self.transition);
        let rest = calls.iter().skip(1).map(|more| format!("{:31}{more}", ""));
        std::iter::once(head.trim_end().to_owned()).chain(rest).collect()
    }
}

/// A row; its calls take more lines if there are many.
fn in_lines(row: &TraceRow, room: usize) -> Vec<String> {
    let told: Vec<String> = row.tool_calls.iter().map(words::call).collect();
    let calls = cells(&told, room);
    let mut calls = calls.iter();
    let first = calls.next().map_or("", String::as_str);
    let (input, output) = tokens(&row.usage);
    let head = format!(
        "{:>4} {} {:<16} {first:<room$} {input:>8} {output:>6} {}",
        row.iter,
        time::clock(row.at),
        row.transition,
        cut(&clean(&row.stop_reason), 24),
    );
    let rest = calls.map(|more| format!("{:31}{more}", ""));
    std::iter::once(head.trim_end().to_owned()).chain(rest).collect()
}

/// The calls, as many on a line as fit.
fn cells(calls: &[String], room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for call in calls {
        let told = cut(call, room);
        match lines.last_mut() {
            Some(line) if line.chars().count() + told.chars().count() + 2 <= room => {
                line.push_str(", ");
                line.push_str(&told);
            }
            Some(_) | None => lines.push(told),
        }
    }
    lines
}
