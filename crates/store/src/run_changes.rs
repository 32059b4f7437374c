//! Run changes: documents that say that a run ended or waits for a human, written in the transaction
//! of the append that did so. A server turns them into deliveries of webhooks.

use windlass_core::log::ids::LaneId;
use windlass_core::projection::{Row, RunRow};
use windlass_core::run::child_runs;
use windlass_core::stop::RunState;
use windlass_runtime::ports::AppendRequest;

use crate::column_values;

/// A run that changed.
#[derive(Debug)]
pub(crate) struct RunChange {
    /// The key of its document: the same change has the same key.
    pub(crate) key: String,
    /// The run.
    pub(crate) run: String,
    /// The content of its document.
    pub(crate) body: String,
}

/// Returns the runs that ended or began to wait for a human in an append. Of the runs of sub-agents
/// only those that wait are of interest to others.
pub(crate) fn run_changes(append: &AppendRequest) -> Vec<RunChange> {
    let is_child = child_runs::root_lane(&append.lane) != append.lane;
    let rows = append.rows.iter().filter_map(|row| match row {
        Row::Run(row) => Some(row),
        Row::Trace(_) | Row::ToolResult(_) | Row::Checkpoint(_) | Row::Event(_) | Row::Raw(_) => {
            None
        }
    });
    let notable = rows.filter(|row| match row.state {
        RunState::WaitingOnHuman => true,
        _ => row.cause.is_some() && !is_child,
    });
    notable.map(|row| run_change(&append.lane, append.head, row)).collect()
}

fn run_change(lane: &LaneId, head: u64, row: &RunRow) -> RunChange {
    let state = column_values::state_name(row.state);
    let body = serde_json::json!({
        "run_id": row.run.as_str(),
        "lane": lane.as_str(),
        "state": state,
        "stop_cause": row.cause.map(|cause| cause.as_str()),
        "at_ms": row.at.0,
    });
    let run = row.run.as_str().to_owned();
    RunChange { key: format!("{run}:{head}:{state}"), run, body: body.to_string() }
}
