//! Every event row is also a `tracing` event, once it is stored. Nothing is printed unless somebody
//! subscribes to the target `windlass`.

use serde::Deserialize;
use tracing::Level;
use windlass_core::ids::LaneId;
use windlass_core::project::{EventRow, Row, alias};

use crate::ports::Forgotten;
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
    let event = "agent_store.forgot";
    tracing::info!(target: TARGET, event, worker, raw, trace, events);
}

/// What a pass of the reconciler did.
pub(crate) fn reconciled(worker: &str, tally: &Tally) {
    let Tally { timed_out, resume_available, failed, cancelled } = tally;
    let event = "agent_run.reconcile";
    tracing::info!(target: TARGET, event, worker, timed_out, resume_available, failed, cancelled);
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
