//! Rows for people and dashboards, derived from an entry and written in its own transaction. The
//! log is the truth; every row here can be made again from it.

mod checkpoint;
mod event;
mod lane_event;
mod limit;
mod rows;
mod trace;

pub use checkpoint::CheckpointKind;
pub use event::alias;
pub use limit::limit_reached;
pub use rows::running_results;
pub use rows::{
    CheckpointRow, EventRow, PROMPT_CHARS, RawRow, Row, RunDescription, RunRow, ToolResultRow,
    TraceCall, TraceRow, active_state,
};

use crate::apply::apply;
use crate::conversation::Conversation;
use crate::log::{self, Entry};

/// The rows that belong to `entry`, which follows `before`. Give it the entry with its volatile
/// records: a run whose repeatable call flies does not wait for a human.
#[must_use]
pub fn project(before: &Conversation, entry: &Entry) -> Vec<Row> {
    advance(&mut before.clone(), entry)
}

/// Folds `entry`, which is the next, and gives its rows: for whoever wants both.
pub fn fold_projecting(now: &mut Conversation, entry: &Entry) -> Result<Vec<Row>, log::Error> {
    now.expects(entry)?;
    Ok(advance(now, entry))
}

fn advance(now: &mut Conversation, entry: &Entry) -> Vec<Row> {
    let before = now.clone();
    now.begin(entry);
    let mut trace = trace::Tracer::default();
    let mut checkpoint = checkpoint::Pending::default();
    let mut rows = Vec::new();
    for record in &entry.records {
        rows.extend(rows::tool_result(now, entry, record).map(Row::ToolResult));
        rows.extend(trace.before(now, entry, record).map(Row::Trace));
        checkpoint.before(now, record);
        let was = event::looks_back(record).then(|| now.clone());
        apply(now, entry.at, &entry.input, record);
        rows.extend(rows::run(now, entry, record).map(Row::Run));
        rows.extend(event::event(was.as_ref(), now, entry, record).map(Row::Event));
        rows.extend(lane_event::lane_event(now, entry, record).map(Row::Event));
        rows.extend(event::warning(now, entry, record).map(Row::Event));
        rows.extend(checkpoint.after(now, entry, record).map(Row::Checkpoint));
    }
    rows.extend(trace.finish().map(Row::Trace));
    rows.extend(rows::active(&before, now, entry).map(Row::Run));
    rows.extend(checkpoint.finish(now, entry).map(Row::Checkpoint));
    rows
}
