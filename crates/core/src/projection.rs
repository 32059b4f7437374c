//! Projection: rows for tables and dashboards, derived from an entry and written in its
//! transaction. The log is the source of truth; every row can be rebuilt.

mod checkpoint;
mod events;
mod iteration_trace;
mod lane_events;
mod limit_messages;
mod rows;

pub use checkpoint::CheckpointKind;
pub use events::event_alias;
pub use limit_messages::limit_reached;
pub use rows::running_call_rows;
pub use rows::{
    CheckpointRow, EventRow, PROMPT_CHARS, RawRow, Row, RunDescription, RunRow, ToolResultRow,
    TraceCall, TraceRow, active_state,
};

use crate::apply::apply;
use crate::log::entry::{Entry, LogError};
use crate::log::record::Record;
use crate::run::conversation::{Conversation, RunEnd};

/// Returns the rows of `entry`, which follows `before`. The entry must include its volatile
/// records: a run with a repeatable call in flight does not wait for a human.
#[must_use]
pub fn project_rows(before: &Conversation, entry: &Entry) -> Vec<Row> {
    fold_entry(&mut before.clone(), entry).rows
}

/// What one entry adds to tables and to readers.
#[derive(Debug)]
pub struct ProjectedEntry {
    /// The rows of the entry.
    pub rows: Vec<Row>,
    /// The runs that end with the entry. There can be two: a queued prompt may end as soon as it
    /// starts.
    pub finished_runs: Vec<RunEnd>,
}

/// Folds `entry`, which must be the next, and returns what it adds. Each record is applied once.
pub fn fold_and_project(now: &mut Conversation, entry: &Entry) -> Result<ProjectedEntry, LogError> {
    now.check_sequence(entry)?;
    Ok(fold_entry(now, entry))
}

fn fold_entry(now: &mut Conversation, entry: &Entry) -> ProjectedEntry {
    let before = now.clone();
    now.start_entry(entry);
    let mut trace = iteration_trace::TraceBuilder::default();
    let mut checkpoint = checkpoint::PendingCheckpoint::default();
    let (mut rows, mut finished_runs) = (Vec::new(), Vec::new());
    for record in &entry.records {
        rows.extend(rows::tool_result_row(now, entry, record).map(Row::ToolResult));
        rows.extend(trace.before_record(now, entry, record).map(Row::Trace));
        checkpoint.before_record(now, record);
        let was = events::needs_state_before(record).then(|| now.clone());
        apply(now, entry.at, &entry.input, record);
        if matches!(record, Record::RunFinished { .. }) {
            finished_runs.extend(now.last_run_end.clone());
        }
        rows.extend(rows::run_row(now, entry, record).map(Row::Run));
        rows.extend(events::event_of_record(was.as_ref(), now, entry, record).map(Row::Event));
        rows.extend(lane_events::lane_event_of_record(now, entry, record).map(Row::Event));
        rows.extend(events::model_warning_event(now, entry, record).map(Row::Event));
        rows.extend(checkpoint.after_record(now, entry, record).map(Row::Checkpoint));
    }
    rows.extend(trace.finish().map(Row::Trace));
    rows.extend(rows::active_run_row(&before, now, entry).map(Row::Run));
    rows.extend(checkpoint.finish(now, entry).map(Row::Checkpoint));
    ProjectedEntry { rows, finished_runs }
}
