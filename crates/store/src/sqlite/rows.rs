//! The rows that are written with entries, in the tables that people and dashboards read. A row is
//! taken apart into the values of its statement, so that it can be written later
//! (`deferred_rows.rs`).

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, params_from_iter};
use serde::{Deserialize, Serialize};
use windlass_core::log::ids::{LaneId, RunId};
use windlass_core::projection::{EventRow, Row, RunDescription, RunRow, ToolResultRow, TraceRow};
use windlass_core::stop::RunState;
use windlass_runtime::ports::StoreError;

use super::error::WorkError;
use super::group_commit::prepare_cached;
use super::run_columns::{self, RUN_COLUMN_COUNT};
use crate::{column_values, encoding};

/// A row with the list in it encoded for its column; empty lists are not written. Checkpoints and
/// raw responses are columns of their entries.
#[derive(Debug)]
pub(super) enum PreparedRow {
    Run(RunRow, Option<String>),
    Trace(TraceRow, String),
    ToolResult(ToolResultRow),
    Event(EventRow),
}

impl PreparedRow {
    /// Prepares a row; `None` for one that is written with its entry.
    pub(super) fn new(row: Row) -> Result<Option<Self>, StoreError> {
        Ok(match row {
            Row::Run(row) => {
                let other_causes = encoding::encode_other_causes(&row)?;
                Some(Self::Run(row, other_causes))
            }
            Row::Trace(row) => {
                let calls = encoding::encode_json("the trace", &row.tool_calls)?;
                Some(Self::Trace(row, calls))
            }
            Row::ToolResult(row) => Some(Self::ToolResult(row)),
            Row::Event(row) => Some(Self::Event(row)),
            Row::Checkpoint(_) | Row::Raw(_) => None,
        })
    }

    /// Returns whether the row may be written later than its entry: what it says of a run is only
    /// that it continues.
    pub(super) fn may_be_deferred(&self) -> bool {
        match self {
            Self::Run(row, other_causes) => {
                row.state == RunState::Running
                    && row.cause.is_none()
                    && other_causes.is_none()
                    && row.text.is_none()
                    && !row.cancel_requested
                    && row.description == RunDescription::default()
            }
            Self::Trace(..) | Self::ToolResult(_) | Self::Event(_) => true,
        }
    }

    /// Returns the run whose state this is.
    pub(super) fn as_run(&self) -> Option<&RunRow> {
        match self {
            Self::Run(row, _) => Some(row),
            Self::Trace(..) | Self::ToolResult(_) | Self::Event(_) => None,
        }
    }

    pub(super) fn values(&self) -> RowValues<'_> {
        match self {
            Self::Run(row, other_causes) => {
                let values = run_columns::run_values(row, other_causes.as_deref());
                RowValues { kind: RowKind::Run, values }
            }
            Self::Trace(row, calls) => trace_values(row, calls),
            Self::ToolResult(row) => tool_result_values(row),
            Self::Event(row) => event_values(row),
        }
    }
}

/// The table that a row belongs to. The names are in entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum RowKind {
    #[serde(rename = "run")]
    Run,
    #[serde(rename = "trace")]
    Trace,
    #[serde(rename = "result")]
    ToolResult,
    #[serde(rename = "event")]
    Event,
}

impl RowKind {
    /// Returns how many values a row has.
    pub(super) fn value_count(self) -> usize {
        match self {
            Self::Run => RUN_COLUMN_COUNT,
            Self::Trace => TRACE_COLUMN_COUNT + 4,
            Self::ToolResult => 9,
            Self::Event => 7,
        }
    }
}

/// A row as the values of its statement, without the number of the lane.
#[derive(Debug)]
pub(super) struct RowValues<'r> {
    pub(super) kind: RowKind,
    pub(super) values: Vec<ToSqlOutput<'r>>,
}

impl RowValues<'_> {
    pub(super) fn write(
        &self,
        connection: &Connection,
        lane_no: i64,
        lane: &LaneId,
    ) -> Result<(), WorkError> {
        match self.kind {
            RowKind::Run => run_columns::write_run(connection, lane_no, lane, &self.values),
            RowKind::Trace => write_trace(connection, &self.values),
            RowKind::ToolResult => write_tool_result(connection, &self.values),
            RowKind::Event => write_event(connection, lane_no, &self.values),
        }
    }
}

pub(super) fn text(text: &str) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()))
}

pub(super) fn optional_text(text: Option<&str>) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(text.map_or(ValueRef::Null, |text| ValueRef::Text(text.as_bytes())))
}

pub(super) fn optional<T: Into<Value>>(value: Option<T>) -> ToSqlOutput<'static> {
    ToSqlOutput::Owned(value.into())
}

pub(super) fn count(count: u64) -> ToSqlOutput<'static> {
    column_values::saturating_column(count).into()
}

/// The columns of `agent_loop_trace` that a row brings; those of `agent_loop_iteration` follow.
const TRACE_COLUMN_COUNT: usize = 9;

fn trace_values<'r>(row: &'r TraceRow, calls: &'r str) -> RowValues<'r> {
    let tokens = |count| ToSqlOutput::from(column_values::trace_column_count(count));
    let values = vec![
        text(row.run.as_str()),
        row.iter.into(),
        text(&row.stop_reason),
        text(calls),
        tokens(row.usage.input_tokens),
        tokens(row.usage.output_tokens),
        tokens(row.usage.cache_read_tokens),
        tokens(row.usage.cache_write_tokens),
        row.at.0.cast_signed().into(),
        text(row.transition),
        text(row.run.as_str()),
        optional_text(row.model.as_deref()),
        optional_text(row.reply_stop_reason.as_deref()),
    ];
    RowValues { kind: RowKind::Trace, values }
}

fn write_trace(connection: &Connection, values: &[ToSqlOutput<'_>]) -> Result<(), WorkError> {
    let (trace, iteration) = values.split_at_checked(TRACE_COLUMN_COUNT).unwrap_or((values, &[]));
    prepare_cached(
        connection,
        "INSERT INTO agent_loop_trace (job_id, iter, stop_reason, tool_calls, input_tokens,
             output_tokens, cache_read, cache_write, ts)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,
             coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', ?9 / 1000.0, 'unixepoch'),
                      strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))",
    )?
    .execute(params_from_iter(trace))?;
    let trace_id = ToSqlOutput::from(connection.last_insert_rowid());
    // The run's counters are in its own row, as of this row.
    prepare_cached(
        connection,
        "INSERT INTO agent_loop_iteration (trace_id, transition, tool_rounds, model_calls,
             tool_calls, model, reply_stop_reason)
         SELECT ?1, ?2, run.tool_rounds, run.model_calls, run.tool_calls, ?4, ?5
         FROM (SELECT 1) LEFT JOIN run ON run.run_id = ?3",
    )?
    .execute(params_from_iter([&trace_id].into_iter().chain(iteration)))?;
    Ok(())
}

fn tool_result_values(row: &ToolResultRow) -> RowValues<'_> {
    let values = vec![
        text(row.run.as_str()),
        text(&row.tool_call_id),
        text(&row.call),
        text(&row.tool),
        optional(row.started_at.map(|at| at.0.cast_signed())),
        optional(row.completed_at.map(|at| at.0.cast_signed())),
        optional_text(row.outcome.as_deref()),
        optional(row.result_seq.map(u64::cast_signed)),
        row.attempts.into(),
    ];
    RowValues { kind: RowKind::ToolResult, values }
}

/// Writes a tool result. A call's row replaces the earlier one. The occurrence distinguishes calls
/// to which the provider gave the same id; it is 0 for every other.
fn write_tool_result(connection: &Connection, values: &[ToSqlOutput<'_>]) -> Result<(), WorkError> {
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
    .execute(params_from_iter(values))?;
    Ok(())
}

fn event_values(row: &EventRow) -> RowValues<'_> {
    let values = vec![
        row.seq.cast_signed().into(),
        optional_text(row.run.as_ref().map(RunId::as_str)),
        row.at.0.cast_signed().into(),
        text(row.name),
        text(row.fields.text()),
        text(&row.agent),
        text(&row.profile),
    ];
    RowValues { kind: RowKind::Event, values }
}

fn write_event(
    connection: &Connection,
    lane_no: i64,
    values: &[ToSqlOutput<'_>],
) -> Result<(), WorkError> {
    let lane_no = ToSqlOutput::from(lane_no);
    prepare_cached(
        connection,
        "INSERT INTO event (seq, run_id, at, name, fields, agent, profile, lane_no)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params_from_iter(values.iter().chain([&lane_no])))?;
    Ok(())
}
