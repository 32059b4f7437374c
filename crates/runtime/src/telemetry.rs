//! Event rows as `tracing` events, emitted once they are stored. Nothing is printed unless the
//! program subscribes to the target `windlass`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tracing::Level;
use windlass_core::log::ids::{LaneId, UnixMillis};
use windlass_core::log::redact;
use windlass_core::message::raw_json::RawJson;
use windlass_core::projection::{EventRow, Row, event_alias};

use crate::ports::{DeletedRows, WorkerEvent, WorkerId};

/// The `tracing` target of all events.
pub const TARGET: &str = "windlass";

/// Returns the events among `rows` for which a subscriber is enabled.
pub(crate) fn subscribed_events(rows: &[Row]) -> Vec<EventRow> {
    if !tracing::enabled!(target: TARGET, Level::WARN) {
        return Vec::new();
    }
    let event = |row: &Row| match row {
        Row::Event(event) => Some(event.clone()),
        Row::Run(_) | Row::Trace(_) | Row::ToolResult(_) | Row::Checkpoint(_) | Row::Raw(_) => None,
    };
    rows.iter().filter_map(event).collect()
}

/// Emits events, once they are stored.
pub(crate) fn emit_events(lane: &LaneId, events: &[EventRow]) {
    events.iter().for_each(|event| emit_event(lane, event));
}

fn emit_event(lane: &LaneId, event: &EventRow) {
    let run = event.run.as_ref().map(windlass_core::log::ids::RunId::as_str).unwrap_or_default();
    let also = event_alias(event.name).unwrap_or_default();
    let (name, seq, at_ms, fields) = (event.name, event.seq, event.at.0, event.fields.text());
    let lane = lane.as_str();
    // The level is part of an event's type, so it cannot be a value.
    if is_warning(event) {
        tracing::warn!(target: TARGET, event = name, alias = also, lane, run, seq, at_ms, fields);
    } else {
        tracing::info!(target: TARGET, event = name, alias = also, lane, run, seq, at_ms, fields);
    }
}

/// Returns whether the event is a warning, which deserves attention.
fn is_warning(event: &EventRow) -> bool {
    const WARNING_EVENTS: [&str; 6] = [
        "agent_run.failed",
        "agent_run.resume_unsafe",
        "agent.guardrail.escalated",
        "agent.exhaustion.hard_limit",
        "agent.model.fell_back",
        "agent.reply.anomaly",
    ];
    // A loop that makes progress is detected too, and is no warning.
    let escalates = || event.fields.read::<EscalationFields>().is_ok_and(|fields| fields.escalated);
    WARNING_EVENTS.contains(&event.name) || (event.name == "agent.loop.detected" && escalates())
}

/// The fields of a detected loop: whether it escalated beyond the one detected before it.
#[derive(Deserialize)]
struct EscalationFields {
    escalated: bool,
}

/// Emits that old rows were deleted.
pub(crate) fn emit_rows_deleted(worker: &str, forgotten: DeletedRows) {
    let DeletedRows { raw, trace, events } = forgotten;
    tracing::info!(target: TARGET, event = ROWS_DELETED, worker, raw, trace, events);
}

/// Event name: old rows were deleted.
pub(crate) const ROWS_DELETED: &str = "agent_store.rows_deleted";

/// Event name: one pass of the reconciler.
pub(crate) const RECONCILED: &str = "agent_run.reconcile";

/// Event name: a runnable lane could not be driven.
pub(crate) const NOT_DISPATCHED: &str = "agent_run.dispatch_next_failed";

/// Builds an event of a worker, to be stored: it belongs to no entry of a log.
pub(crate) fn build_worker_event(
    worker: &WorkerId,
    at: UnixMillis,
    (name, lane, fields): (&str, Option<LaneId>, &impl Serialize),
) -> WorkerEvent {
    let fields = redact::json_without_secrets(&RawJson::encode(fields));
    WorkerEvent { at, worker: Arc::clone(worker), lane, name: Arc::from(name), fields }
}

/// What the reconciler did since its last report, as fields of its event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ReconcileCounts {
    /// The number of runs whose owner died.
    pub(crate) timed_out: u64,
    /// The number of those runs that can be resumed.
    pub(crate) resume_available: u64,
    /// The number of lanes that could not be driven here.
    pub(crate) failed: u64,
    /// The number of parked runs whose cancel was overdue.
    pub(crate) cancelled: u64,
}

/// Why a lane could not be driven, with the whole chain of causes, as fields of its event.
#[derive(Serialize)]
pub(crate) struct DispatchFailure {
    error: String,
}

impl DispatchFailure {
    pub(crate) fn new(error: &dyn std::error::Error) -> Self {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            text = format!("{text}\ncaused by: {error}");
            cause = error.source();
        }
        Self { error: text }
    }
}

/// The numbers of deleted rows, as fields of the event.
#[derive(Serialize)]
pub(crate) struct DeletedRowCounts {
    raw: usize,
    trace: usize,
    events: usize,
}

impl From<DeletedRows> for DeletedRowCounts {
    fn from(DeletedRows { raw, trace, events }: DeletedRows) -> Self {
        Self { raw, trace, events }
    }
}

/// Emits what a pass of the reconciler did.
pub(crate) fn emit_reconciled(worker: &str, counts: &ReconcileCounts) {
    let ReconcileCounts { timed_out, resume_available, failed, cancelled } = counts;
    tracing::info!(target: TARGET, event = RECONCILED, worker, timed_out, resume_available, failed, cancelled);
}

/// Emits that a driver missed a time limit of its run and was aborted.
pub(crate) fn emit_driver_stuck(lane: &LaneId) {
    let lane = lane.as_str();
    tracing::warn!(target: TARGET, event = "agent.driver.stuck", lane);
}

/// Emits that a lane could not be driven in the background.
pub(crate) fn emit_not_driven(lane: &LaneId, error: &dyn std::error::Error) {
    let lane = lane.as_str();
    tracing::warn!(target: TARGET, event = "agent.lane.not_driven", lane, why = %error);
}
