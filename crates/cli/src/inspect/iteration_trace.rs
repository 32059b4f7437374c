//! The iteration table of a run: one row per model call; the last row has the stop reason.

use std::sync::Arc;

use serde::Serialize;
use windlass::core::log::ids::{RunId, UnixMillis};
use windlass::core::message::reply::TokenUsage;
use windlass::core::projection::{Row, TraceCall, TraceRow};

use super::history::ConversationHistory;
use crate::messages::report;
use crate::messages::stored_name;
use crate::terminal::number_format::group_digits;
use crate::terminal::{Color, OutputStyle, sanitize_line, time_format, truncate};

/// Characters of a row without the calls.
const FIXED_CHARS: usize = 58;

/// Minimum characters for the calls beside the rest of a row.
const MIN_CALLS_CHARS: usize = 16;

/// Spaces before a call that is printed below its row.
const STACKED_INDENT: usize = 5;

/// The trace of a run.
pub(crate) struct RunTrace {
    /// The run of the trace.
    pub(crate) run: RunId,
    /// The rows of finished iterations.
    pub(crate) rows: Vec<TraceRow>,
    /// The iteration in progress.
    open_iteration: Option<OpenIteration>,
    /// Why the run ended, or what it does.
    pub(crate) closing_line: String,
}

/// An iteration in progress: what is known of it so far.
struct OpenIteration {
    iter: u32,
    transition: Arc<str>,
    calls: Vec<String>,
}

#[derive(Serialize)]
struct TraceJson<'a> {
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

/// Builds the traces of all runs of a conversation, or of one.
pub(crate) fn build_traces(history: &ConversationHistory, only: Option<&RunId>) -> Vec<RunTrace> {
    let rows: Vec<TraceRow> =
        history.project_rows(0).into_iter().filter_map(to_trace_row).collect();
    let runs = history.run_ids().into_iter().filter(|run| only.is_none_or(|only| only == run));
    let trace = |run: RunId| {
        let rows = rows.iter().filter(|row| row.run == run).cloned().collect();
        RunTrace {
            closing_line: report::trace::closing_line(history, &run),
            open_iteration: find_open_iteration(history, &run),
            run,
            rows,
        }
    };
    runs.map(trace).collect()
}

/// The iteration in progress of an active run.
fn find_open_iteration(history: &ConversationHistory, run: &RunId) -> Option<OpenIteration> {
    let active = history.conversation.run.as_ref().filter(|active| active.id == *run)?;
    let iter = active.counters.iterations;
    if let Some(asking) = active.pending_model_call() {
        let transition = stored_name(&asking.transition);
        return Some(OpenIteration { iter, transition, calls: Vec::new() });
    }
    let transition =
        history.conversation.last_reply.as_ref().map(|last| stored_name(&last.transition))?;
    let calls = active.round()?.calls.iter().map(report::trace::open_call_cell).collect();
    Some(OpenIteration { iter, transition, calls })
}

fn to_trace_row(row: Row) -> Option<TraceRow> {
    match row {
        Row::Trace(row) => Some(row),
        Row::Run(_) | Row::ToolResult(_) | Row::Checkpoint(_) | Row::Event(_) | Row::Raw(_) => None,
    }
}

impl RunTrace {
    /// Serializes each row as JSON.
    pub(crate) fn to_json(&self) -> serde_json::Result<Vec<serde_json::Value>> {
        let line = |row: &TraceRow| {
            serde_json::to_value(TraceJson {
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

    /// Renders the rows as a table, followed by the closing line.
    pub(crate) fn to_table(&self, style: OutputStyle) -> Vec<String> {
        let first = self.rows.first().map_or(UnixMillis(0), |row| row.at);
        if style.width() < FIXED_CHARS + MIN_CALLS_CHARS {
            return self.to_narrow_table(style, first);
        }
        let remaining = style.width().saturating_sub(FIXED_CHARS);
        let mut lines =
            vec![style.paint(Color::Dim, &report::trace::table_heading(remaining, first))];
        for row in &self.rows {
            lines.extend(row_lines(row, remaining));
        }
        if let Some(open) = &self.open_iteration {
            lines.extend(open.to_lines(remaining));
        }
        lines.extend(report::trace::model_lines(&self.rows));
        lines.extend(report::trace::unknown_reason(&self.rows));
        lines.push(self.closing_line.clone());
        lines
    }

    /// Renders the table for a narrow terminal: the calls are printed below their row.
    fn to_narrow_table(&self, style: OutputStyle, first: UnixMillis) -> Vec<String> {
        let below = |told: &[String]| -> Vec<String> {
            told.iter().map(|call| style.wrap(call, STACKED_INDENT)).collect()
        };
        let mut lines = vec![style.paint(Color::Dim, &report::trace::narrow_heading(first))];
        for row in &self.rows {
            let cells: Vec<String> = row.tool_calls.iter().map(report::trace::call_cell).collect();
            let (input, output) = format_tokens(&row.usage);
            lines.push(style.wrap(&report::trace::narrow_row(row, &input, &output), 0));
            lines.extend(below(&cells));
        }
        if let Some(open) = &self.open_iteration {
            lines.push(style.wrap(&format!("{:>4} open     {}", open.iter, open.transition), 0));
            lines.extend(below(&open.calls));
        }
        lines.push(style.wrap(&self.closing_line, 0));
        lines
    }
}

/// Input tokens with those from the cache, and output tokens.
fn format_tokens(usage: &TokenUsage) -> (String, String) {
    let cached = usage.cache_read_tokens.saturating_add(usage.cache_write_tokens);
    (group_digits(usage.input_tokens.saturating_add(cached)), group_digits(usage.output_tokens))
}

impl OpenIteration {
    fn to_lines(&self, remaining: usize) -> Vec<String> {
        let calls = pack_calls(&self.calls, remaining);
        let first = calls.first().map_or("", String::as_str);
        let head = format!("{:>4} {:<8} {:<16} {first}", self.iter, "open", self.transition);
        let rest = calls.iter().skip(1).map(|more| format!("{:31}{more}", ""));
        std::iter::once(head.trim_end().to_owned()).chain(rest).collect()
    }
}

/// The lines of a row; many calls take more lines.
fn row_lines(row: &TraceRow, remaining: usize) -> Vec<String> {
    let messages: Vec<String> = row.tool_calls.iter().map(report::trace::call_cell).collect();
    let calls = pack_calls(&messages, remaining);
    let mut calls = calls.iter();
    let first = calls.next().map_or("", String::as_str);
    let (input, output) = format_tokens(&row.usage);
    let head = format!(
        "{:>4} {} {:<16} {first:<remaining$} {input:>8} {output:>6} {}",
        row.iter,
        time_format::format_clock(row.at),
        row.transition,
        truncate(&sanitize_line(&row.stop_reason), 24),
    );
    let rest = calls.map(|more| format!("{:31}{more}", ""));
    std::iter::once(head.trim_end().to_owned()).chain(rest).collect()
}

/// Packs the calls into lines, as many on a line as fit.
fn pack_calls(calls: &[String], remaining: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for call in calls {
        let text = truncate(call, remaining);
        match lines.last_mut() {
            Some(line) if line.chars().count() + text.chars().count() + 2 <= remaining => {
                line.push_str(", ");
                line.push_str(&text);
            }
            Some(_) | None => lines.push(text),
        }
    }
    lines
}
