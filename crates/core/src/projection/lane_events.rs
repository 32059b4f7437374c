//! Events of the lane: what an owner change did to a run without an owner, and a queued prompt that
//! could not start. They stand beside the event of the record itself.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a record no row is made of is passed over; a new kind decides for itself"
)]

use serde::Serialize;

use super::EventRow;
use crate::log::entry::Entry;
use crate::log::ids::RunId;
use crate::log::input::Input;
use crate::log::record::Record;
use crate::message::raw_json::RawJson;
use crate::run::conversation::Conversation;
use crate::stop::{RunState, StopCause};

/// What became of runs without an owner.
#[derive(Default, Serialize)]
struct ReconcileFields {
    timed_out: u32,
    failed: u32,
    cancelled: u32,
}

#[derive(Serialize)]
struct DispatchFailedFields<'a> {
    cause: &'a str,
    waiting: usize,
}

/// Returns the lane event of a record; `now` has the record applied.
pub(super) fn lane_event_of_record(
    now: &Conversation,
    entry: &Entry,
    record: &Record,
) -> Option<EventRow> {
    let row = |run: Option<RunId>, name, fields| EventRow::new(now, entry, run, (name, fields));
    match record {
        Record::OwnerChanged { .. } => {
            let run = now.run.as_ref().map(|run| run.id.clone());
            let counts = run_ended_by_owner_change(now, entry)?;
            Some(row(run, "agent_run.reconcile", RawJson::encode(&counts)))
        }
        // The wait for a cancel ended without an answer.
        Record::RunFinished { run, cause: StopCause::UserCancel, .. }
            if matches!(entry.input, Input::TimerFired {}) =>
        {
            let counts = ReconcileFields { cancelled: 1, ..ReconcileFields::default() };
            Some(row(Some(run.clone()), "agent_run.reconcile", RawJson::encode(&counts)))
        }
        Record::RunFinished { run, cause, .. } if starts_run(entry, run) && has_failed(now) => {
            let fields =
                DispatchFailedFields { cause: cause.as_str(), waiting: now.prompt_queue.len() };
            let name = "agent_run.dispatch_next_failed";
            Some(row(Some(run.clone()), name, RawJson::encode(&fields)))
        }
        _ => None,
    }
}

/// Returns the fields of the event if an owner change ended the run it found: most runs continue,
/// which needs no event. Whether the previous owner had died is known to the reconciler, which
/// counts that itself.
fn run_ended_by_owner_change(now: &Conversation, entry: &Entry) -> Option<ReconcileFields> {
    let mine = now.run.as_ref().map(|run| &run.id);
    let ended = entry.records.iter().find_map(|record| match record {
        Record::RunFinished { run, cause, .. } if Some(run) == mine => Some(*cause),
        _ => None,
    });
    match ended?.run_state(crate::stop::TextPresence::from_text("")) {
        RunState::Cancelled => Some(ReconcileFields { cancelled: 1, ..ReconcileFields::default() }),
        RunState::Failed => Some(ReconcileFields { failed: 1, ..ReconcileFields::default() }),
        RunState::TimedOut => Some(ReconcileFields { timed_out: 1, ..ReconcileFields::default() }),
        RunState::Queued
        | RunState::Running
        | RunState::WaitingOnHuman
        | RunState::WaitingOnProvider
        | RunState::Completed => None,
    }
}

fn starts_run(entry: &Entry, run: &RunId) -> bool {
    entry.records.iter().any(|record| matches!(record, Record::RunStarted { run: it } if it == run))
}

fn has_failed(now: &Conversation) -> bool {
    let state = now.last_run_end.as_ref().map(|ended| ended.cause.run_state(ended.text_presence()));
    state == Some(RunState::Failed)
}
