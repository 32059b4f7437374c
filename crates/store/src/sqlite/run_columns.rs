//! The columns of the table `run`, from which every statement that writes them is built.

use std::sync::LazyLock;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, params_from_iter};
use windlass_core::log::ids::{LaneId, RunId};
use windlass_core::message::reply::TokenUsage;
use windlass_core::projection::{RunDescription, RunRow};
use windlass_core::settings::conversation_settings::ResumePolicy;

use super::error::{WorkError, is_conflict};
use super::group_commit::prepare_cached;
use super::rows::{count, optional, optional_text, text};
use crate::column_values;
use crate::validation::rejection;

#[cfg(test)]
#[path = "run_columns_tests.rs"]
mod run_columns_tests;

/// What is written of a run.
struct RunValues<'r> {
    row: &'r RunRow,
    usage: &'r TokenUsage,
    about: &'r RunDescription,
    other_causes: Option<&'r str>,
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

/// The number of columns that a row of a run brings.
pub(super) const RUN_COLUMN_COUNT: usize = 22;

/// The columns that a row of a run brings. `?N` in a statement is the N-th of them; the number of the
/// lane follows as the last parameter.
const RUN_COLUMNS: [RunColumn; RUN_COLUMN_COUNT] = {
    use ColumnMerge::{Indexed, KeepIfNull, Key, Max, Replace};
    [
        RunColumn::new("run_id", Key, |run| text(run.row.run.as_str())),
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
    keys.push(format!("lane_no = ?{}", RUN_COLUMN_COUNT + 1));
    format!("UPDATE run SET {} WHERE {}", assignments.join(", "), keys.join(" AND "))
});

/// Writes a run that is new, or becomes active, or ends.
static WRITE_RUN: LazyLock<String> = LazyLock::new(|| {
    let mut assignments = vec!["resume_available = 0".to_owned()];
    let given = RUN_COLUMNS.iter().map(|column| (column, format!("excluded.{}", column.name)));
    assignments.extend(given.filter_map(|(column, given)| column.assignment(&given)));
    let places: Vec<String> =
        (1..=RUN_COLUMN_COUNT + 1).map(|number| format!("?{number}")).collect();
    format!(
        "INSERT INTO run ({}, lane_no) VALUES ({}) ON CONFLICT (run_id) DO UPDATE SET {}
         WHERE run.lane_no = excluded.lane_no",
        RUN_COLUMNS.map(|column| column.name).join(", "),
        places.join(", "),
        assignments.join(", ")
    )
});

/// Returns the values of the columns.
pub(super) fn run_values<'r>(
    row: &'r RunRow,
    other_causes: Option<&'r str>,
) -> Vec<ToSqlOutput<'r>> {
    let (usage, about) = (&row.counters.usage, &row.description);
    let run = RunValues { row, usage, about, other_causes };
    RUN_COLUMNS.iter().map(|column| (column.value)(&run)).collect()
}

/// Writes the values of a run.
pub(super) fn write_run(
    connection: &Connection,
    lane_no: i64,
    lane: &LaneId,
    values: &[ToSqlOutput<'_>],
) -> Result<(), WorkError> {
    let lane_no = ToSqlOutput::from(lane_no);
    let parameters = || params_from_iter(values.iter().chain([&lane_no]));
    // Most rows say that a run continues: they do not rewrite the index of active runs.
    if prepare_cached(connection, &CONTINUE_RUN)?.execute(parameters())? == 1 {
        return Ok(());
    }
    match prepare_cached(connection, &WRITE_RUN)?.execute(parameters()) {
        Ok(0) => Err(WorkError::RollBack(rejection::foreign_run(lane, &run_id(values)))),
        Ok(_) => Ok(()),
        Err(error) if is_conflict(&error) => {
            Err(WorkError::RollBack(rejection::second_active_run(lane)))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the id among the values of a run.
fn run_id(values: &[ToSqlOutput<'_>]) -> RunId {
    let id = values.first().map(ToSqlOutput::to_sql);
    match id {
        Some(Ok(ToSqlOutput::Borrowed(ValueRef::Text(id)))) => {
            RunId::from(String::from_utf8_lossy(id).into_owned())
        }
        _ => RunId::from(String::new()),
    }
}
