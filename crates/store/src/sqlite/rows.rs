//! The rows that are written with entries, in the tables that people and dashboards read.

use std::sync::LazyLock;

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, params, params_from_iter};
use windlass_core::log::ids::{LaneId, RunId};
use windlass_core::message::reply::TokenUsage;
use windlass_core::projection::{
    EventRow, RawRow, Row, RunDescription, RunRow, ToolResultRow, TraceRow,
};
use windlass_core::settings::conversation_settings::ResumePolicy;

use super::error::{WorkError, is_conflict};
use super::fenced_append::PreparedRow;
use super::group_commit::prepare_cached;
use crate::column_values;
use crate::validation::rejection;

#[cfg(test)]
#[path = "rows_tests.rs"]
mod rows_tests;

pub(super) fn write_row(
    connection: &Connection,
    lane_no: i64,
    lane: &LaneId,
    prepared: &PreparedRow,
) -> Result<(), WorkError> {
    let list = prepared.list.as_deref();
    match &prepared.row {
        Row::Run(row) => write_run(connection, lane, &RunValues::new(lane_no, row, list)),
        Row::Trace(row) => write_trace(connection, row, list),
        Row::ToolResult(row) => write_tool_result(connection, row),
        // A checkpoint is written with its entry.
        Row::Checkpoint(_) => Ok(()),
        Row::Event(row) => write_event(connection, lane_no, row),
        Row::Raw(row) => write_raw_response(connection, lane_no, row),
    }
}

/// What is written of a run.
struct RunValues<'r> {
    lane_no: i64,
    row: &'r RunRow,
    usage: &'r TokenUsage,
    about: &'r RunDescription,
    other_causes: Option<&'r str>,
}

impl<'r> RunValues<'r> {
    fn new(lane_no: i64, row: &'r RunRow, other_causes: Option<&'r str>) -> Self {
        Self { lane_no, row, usage: &row.counters.usage, about: &row.description, other_causes }
    }
}

/// How a later row of a run changes a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnMerge {
    /// Identifies the row.
    Key,
    /// Is replaced, unless the run continues: then the index of active runs is not rewritten.
    Indexed,
    Replace,
    KeepIfNull,
    Max,
}

/// A column of the table `run`.
struct RunColumn {
    name: &'static str,
    merge: ColumnMerge,
    value: for<'r> fn(&RunValues<'r>) -> ToSqlOutput<'r>,
}

impl RunColumn {
    const fn new(
        name: &'static str,
        merge: ColumnMerge,
        value: for<'r> fn(&RunValues<'r>) -> ToSqlOutput<'r>,
    ) -> Self {
        Self { name, merge, value }
    }

    /// Returns the assignment of a new value, which is `given` in SQL, to the column of `run`.
    fn assignment(&self, given: &str) -> Option<String> {
        let name = self.name;
        match self.merge {
            ColumnMerge::Key => None,
            ColumnMerge::Replace | ColumnMerge::Indexed => Some(format!("{name} = {given}")),
            ColumnMerge::KeepIfNull => Some(format!("{name} = coalesce({given}, run.{name})")),
            ColumnMerge::Max => Some(format!("{name} = max(run.{name}, {given})")),
        }
    }
}

/// The columns of the table `run`, from which every statement that writes them is built. `?N` in a
/// statement is the N-th of them.
const RUN_COLUMNS: [RunColumn; 23] = {
    use ColumnMerge::{Indexed, KeepIfNull, Key, Max, Replace};
    [
        RunColumn::new("run_id", Key, |run| text(run.row.run.as_str())),
        RunColumn::new("lane_no", Key, |run| run.lane_no.into()),
        RunColumn::new("state", Replace, |run| text(column_values::state_name(run.row.state))),
        RunColumn::new("active", Indexed, |run| column_values::is_active(run.row.state).into()),
        RunColumn::new("cause", Replace, |run| {
            optional(run.row.cause.map(column_values::cause_name))
        }),
        RunColumn::new("other_causes", Replace, |run| optional_text(run.other_causes)),
        RunColumn::new("text", Replace, |run| optional_text(run.row.text.as_deref())),
        RunColumn::new("tool_rounds", Replace, |run| run.row.counters.tool_rounds.into()),
        RunColumn::new("model_calls", Replace, |run| run.row.counters.model_calls.into()),
        RunColumn::new("tool_calls", Replace, |run| run.row.counters.tool_calls.into()),
        RunColumn::new("input_tokens", Replace, |run| count(run.usage.input_tokens)),
        RunColumn::new("output_tokens", Replace, |run| count(run.usage.output_tokens)),
        RunColumn::new("cache_read", Replace, |run| count(run.usage.cache_read_tokens)),
        RunColumn::new("cache_write", Replace, |run| count(run.usage.cache_write_tokens)),
        RunColumn::new("at", Replace, |run| run.row.at.0.cast_signed().into()),
        RunColumn::new("usd_micros", Replace, |run| {
            optional(run.row.usd_micros.map(u64::cast_signed))
        }),
        RunColumn::new("prompt", KeepIfNull, |run| optional_text(run.about.prompt.as_deref())),
        RunColumn::new("folder", KeepIfNull, |run| optional_text(run.about.folder.as_deref())),
        RunColumn::new("agent", KeepIfNull, |run| optional_text(run.about.agent.as_deref())),
        RunColumn::new("profile", KeepIfNull, |run| optional_text(run.about.profile.as_deref())),
        RunColumn::new("model", KeepIfNull, |run| optional_text(run.about.model.as_deref())),
        RunColumn::new("cancel_requested", Max, |run| run.row.cancel_requested.into()),
        RunColumn::new("resume_policy", KeepIfNull, |run| {
            optional_text(run.about.resume.map(ResumePolicy::as_str))
        }),
    ]
};

/// Updates a run that continues.
static CONTINUE_RUN: LazyLock<String> = LazyLock::new(|| {
    let mut keys = Vec::new();
    let mut assignments = vec!["resume_available = 0".to_owned()];
    for (number, column) in (1..).zip(&RUN_COLUMNS) {
        match column.merge {
            ColumnMerge::Key | ColumnMerge::Indexed => {
                keys.push(format!("{} = ?{number}", column.name));
            }
            _ => assignments.extend(column.assignment(&format!("?{number}"))),
        }
    }
    format!("UPDATE run SET {} WHERE {}", assignments.join(", "), keys.join(" AND "))
});

/// Writes a run that is new, or becomes active, or ends.
static WRITE_RUN: LazyLock<String> = LazyLock::new(|| {
    let mut assignments = vec!["resume_available = 0".to_owned()];
    let given = RUN_COLUMNS.iter().map(|column| (column, format!("excluded.{}", column.name)));
    assignments.extend(given.filter_map(|(column, given)| column.assignment(&given)));
    let places: Vec<String> = (1..=RUN_COLUMNS.len()).map(|number| format!("?{number}")).collect();
    format!(
        "INSERT INTO run ({}) VALUES ({}) ON CONFLICT (run_id) DO UPDATE SET {}
         WHERE run.lane_no = excluded.lane_no",
        RUN_COLUMNS.map(|column| column.name).join(", "),
        places.join(", "),
        assignments.join(", ")
    )
});

fn write_run(connection: &Connection, lane: &LaneId, run: &RunValues<'_>) -> Result<(), WorkError> {
    let values = || params_from_iter(RUN_COLUMNS.iter().map(|column| (column.value)(run)));
    // Most rows say that a run continues: they do not rewrite the index of active runs.
    if prepare_cached(connection, &CONTINUE_RUN)?.execute(values())? == 1 {
        return Ok(());
    }
    match prepare_cached(connection, &WRITE_RUN)?.execute(values()) {
        Ok(0) => Err(WorkError::RollBack(rejection::foreign_run(lane, &run.row.run))),
        Ok(_) => Ok(()),
        Err(error) if is_conflict(&error) => {
            Err(WorkError::RollBack(rejection::second_active_run(lane)))
        }
        Err(error) => Err(error.into()),
    }
}

fn text(text: &str) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()))
}

fn optional_text(text: Option<&str>) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(text.map_or(ValueRef::Null, |text| ValueRef::Text(text.as_bytes())))
}

fn optional<T: Into<Value>>(value: Option<T>) -> ToSqlOutput<'static> {
    ToSqlOutput::Owned(value.into())
}

fn count(count: u64) -> ToSqlOutput<'static> {
    column_values::saturating_column(count).into()
}

fn write_trace(
    connection: &Connection,
    row: &TraceRow,
    calls: Option<&str>,
) -> Result<(), WorkError> {
    prepare_cached(
        connection,
        "INSERT INTO agent_loop_trace (job_id, iter, stop_reason, tool_calls, input_tokens,
             output_tokens, cache_read, cache_write, ts)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,
             coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', ?9 / 1000.0, 'unixepoch'),
                      strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))",
    )?
    .execute(params![
        row.run.as_str(),
        row.iter,
        &*row.stop_reason,
        calls.unwrap_or("[]"),
        column_values::trace_column_count(row.usage.input_tokens),
        column_values::trace_column_count(row.usage.output_tokens),
        column_values::trace_column_count(row.usage.cache_read_tokens),
        column_values::trace_column_count(row.usage.cache_write_tokens),
        row.at.0.cast_signed(),
    ])?;
    // The run's counters are in its own row, as of this same transaction.
    prepare_cached(
        connection,
        "INSERT INTO agent_loop_iteration (trace_id, transition, tool_rounds, model_calls,
             tool_calls, model, reply_stop_reason)
         SELECT ?1, ?2, run.tool_rounds, run.model_calls, run.tool_calls, ?4, ?5
         FROM (SELECT 1) LEFT JOIN run ON run.run_id = ?3",
    )?
    .execute(params![
        connection.last_insert_rowid(),
        row.transition,
        row.run.as_str(),
        row.model.as_deref(),
        row.reply_stop_reason.as_deref(),
    ])?;
    Ok(())
}

/// Writes a tool result. A call's row replaces the earlier one. The occurrence distinguishes calls
/// to which the provider gave the same id; it is 0 for every other.
fn write_tool_result(connection: &Connection, row: &ToolResultRow) -> Result<(), WorkError> {
    let run = row.run.as_str();
    let started = row.started_at.map(|at| at.0.cast_signed());
    let completed = row.completed_at.map(|at| at.0.cast_signed());
    let seq = row.result_seq.map(u64::cast_signed);
    let outcome = row.outcome.as_deref();
    prepare_cached(
        connection,
        "INSERT INTO agent_tool_results (run_id, tool_call_id, call, tool, started_at, completed_at,
             outcome, result_seq, attempts, occurrence)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
             coalesce(max(occurrence) FILTER (WHERE call = ?3), count(*))
         FROM agent_tool_results WHERE run_id = ?1 AND tool_call_id = ?2
         ON CONFLICT (run_id, tool_call_id, occurrence) DO UPDATE SET
             started_at = coalesce(excluded.started_at, started_at),
             completed_at = excluded.completed_at, outcome = excluded.outcome,
             result_seq = excluded.result_seq, attempts = max(attempts, excluded.attempts)",
    )?
    .execute(params![
        run,
        &*row.tool_call_id,
        row.call,
        &*row.tool,
        started,
        completed,
        outcome,
        seq,
        row.attempts,
    ])?;
    Ok(())
}

fn write_event(connection: &Connection, lane_no: i64, row: &EventRow) -> Result<(), WorkError> {
    prepare_cached(
        connection,
        "INSERT INTO event (lane_no, seq, run_id, at, name, fields, agent, profile)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        lane_no,
        row.seq.cast_signed(),
        row.run.as_ref().map(RunId::as_str),
        row.at.0.cast_signed(),
        row.name,
        row.fields.text(),
        &*row.agent,
        &*row.profile,
    ])?;
    Ok(())
}

fn write_raw_response(
    connection: &Connection,
    lane_no: i64,
    row: &RawRow,
) -> Result<(), WorkError> {
    prepare_cached(
        connection,
        "INSERT INTO raw_response (lane_no, seq, run_id, at, body, response)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        lane_no,
        row.seq.cast_signed(),
        row.run.as_ref().map(RunId::as_str),
        row.at.0.cast_signed(),
        row.body.text(),
        row.response.as_deref(),
    ])?;
    Ok(())
}
