//! Every event row is also a `tracing` event, once it is stored. Nothing is printed unless somebody
//! subscribes to the target `windlass`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tracing::Level;
use windlass_core::ids::{LaneId, Millis};
use windlass_core::project::{EventRow, Row, alias};
use windlass_core::raw::Raw;
use windlass_core::redact;

use crate::ports::{Forgotten, WorkerEvent, WorkerId};
use crate::workers::Tally;

/// The target of all events.
pub const TARGET: &str = "windlass";

/// The events among `rows` that somebody wants to be told of.
pub(crate) fn events(rows: &[Row]) -> Vec<EventRow> {
    if !tracing::enabled!(target: TARGET, Level::WARN) {
        return Vec::new();
    }
    let event = |row: &Row| match row {
        Row::Event(event) => Some(event.clone()),
        Row::Run(_) | Row::Trace(_) | Row::ToolResult(_) | Row::Checkpoint(_) | Row::Raw(_) => None,
    };
    rows.iter().filter_map(event).collect()
}

/// Tells whoever subscribed, once the events are stored.
pub(crate) fn tell(lane: &LaneId, events: &[EventRow]) {
    events.iter().for_each(|event| told(lane, event));
}

fn told(lane: &LaneId, event: &EventRow) {
    let run = event.run.as_ref().map(windlass_core::ids::RunId::as_str).unwrap_or_default();
    let also = alias(event.name).unwrap_or_default();
    let (name, seq, at_ms, fields) = (event.name, event.seq, event.at.0, event.fields.text());
    let lane = lane.as_str();
    // The level is part of an event's type, so it cannot be a value.
    if is_trouble(event) {
        tracing::warn!(target: TARGET, event = name, alias = also, lane, run, seq, at_ms, fields);
    } else {
        tracing::info!(target: TARGET, event = name, alias = also, lane, run, seq, at_ms, fields);
    }
}

/// Whether the event is a warning: somebody should look at it.
fn is_trouble(event: &EventRow) -> bool {
    const TROUBLE: [&str; 6] = [
        "agent_run.failed",
        "agent_run.resume_unsafe",
        "agent.guardrail.escalated",
        "agent.exhaustion.hard_limit",
        "agent.model.fell_back",
        "agent.reply.anomaly",
    ];
    // A loop that makes progress is found too, and is nothing to look at.
    let escalates = || event.fields.read::<Escalation>().is_ok_and(|fields| fields.escalated);
    TROUBLE.contains(&event.name) || (event.name == "agent.loop.detected" && escalates())
}

/// Whether a detection led further than the one before it.
#[derive(Deserialize)]
struct Escalation {
    escalated: bool,
}

/// Rows that were too old.
pub(crate) fn forgotten(worker: &str, forgotten: Forgotten) {
    let Forgotten { raw, trace, events } = forgotten;
    tracing::info!(target: TARGET, event = FORGOT, worker, raw, trace, events);
}

/// Rows that were too old are no more.
pub(crate) const FORGOT: &str = "agent_store.forgot";

/// A pass of the reconciler.
pub(crate) const RECONCILE: &str = "agent_run.reconcile";

/// A lane that has something to do could not be driven.
pub(crate) const NOT_DISPATCHED: &str = "agent_run.dispatch_next_failed";

/// An event of a worker, to be stored: it belongs to no entry of a log.
pub(crate) fn worker_event(
    worker: &WorkerId,
    at: Millis,
    (name, lane, fields): (&str, Option<LaneId>, &impl Serialize),
) -> WorkerEvent {
    let fields = redact::raw_without_secrets(&Raw::encode(fields));
    WorkerEvent { at, worker: Arc::clone(worker), lane, name: Arc::from(name), fields }
}

/// What a pass of the reconciler did, as its event says it.
#[derive(Serialize)]
pub(crate) struct ReconcileCounts {
    timed_out: u64,
    resume_available: u64,
    failed: u64,
    cancelled: u64,
}

impl From<&Tally> for ReconcileCounts {
    fn from(tally: &Tally) -> Self {
        let Tally { timed_out, resume_available, failed, cancelled } = *tally;
        Self { timed_out, resume_available, failed, cancelled }
    }
}

/// Why a lane could not be driven, with everything that caused it.
#[derive(Serialize)]
pub(crate) struct DispatchFailure {
    error: String,
}

impl DispatchFailure {
    pub(crate) fn new(error: &dyn std::error::Error) -> Self {
        let mut told = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            told = format!("{told}\ncaused by: {error}");
            cause = error.source();
        }
        Self { error: told }
    }
}

/// How many rows were forgotten, as the event says it.
#[derive(Serialize)]
pub(crate) struct ForgottenCounts {
    raw: usize,
    trace: usize,
    events: usize,
}

impl From<Forgotten> for ForgottenCounts {
    fn from(Forgotten { raw, trace, events }: Forgotten) -> Self {
        Self { raw, trace, events }
    }
}

/// What a pass of the reconciler did.
pub(crate) fn reconciled(worker: &str, tally: &Tally) {
    let Tally { timed_out, resume_available, failed, cancelled } = tally;
    tracing::info!(target: TARGET, event = RECONCILE, worker, timed_out, resume_available, failed, cancelled);
}

/// A driver that missed a time limit of its run was given up.
pub(crate) fn stuck(lane: &LaneId) {
    let lane = lane.as_str();
    tracing::warn!(target: TARGET, event = "agent.driver.stuck", lane);
}

/// A lane nobody watches could not be driven.
pub(crate) fn not_driven(lane: &LaneId, error: &dyn std::error::Error) {
    let lane = lane.as_str();
    tracing::warn!(target: TARGET, event = "agent.lane.not_driven", lane, why = %error);
}
