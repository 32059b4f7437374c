//! Events that tell of the lane: what a look at a run without an owner made of it, and a waiting
//! prompt that could not begin. They stand beside the event of the record itself.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a record no row is made of is passed over; a new kind decides for itself"
)]

use serde::Serialize;

use super::EventRow;
use crate::conversation::Conversation;
use crate::ids::RunId;
use crate::input::Input;
use crate::log::Entry;
use crate::raw::Raw;
use crate::record::Record;
use crate::stop::{RunState, StopCause};

/// What became of runs that nobody had looked after.
#[derive(Default, Serialize)]
struct Counts {
    timed_out: u32,
    failed: u32,
    cancelled: u32,
}

#[derive(Serialize)]
struct NotBegun<'a> {
    cause: &'a str,
    waiting: usize,
}

/// The event of the lane that a record brings; `now` has the record applied.
pub(super) fn lane_event(now: &Conversation, entry: &Entry, record: &Record) -> Option<EventRow> {
    let row = |run: Option<RunId>, name, fields| EventRow::of(now, entry, run, (name, fields));
    match record {
        Record::Adopted { .. } => {
            let run = now.run.as_ref().map(|run| run.id.clone());
            let counts = ended_by_takeover(now, entry)?;
            Some(row(run, "agent_run.reconcile", Raw::encode(&counts)))
        }
        // Nobody answered before the wait for a cancel was over.
        Record::Finished { run, cause: StopCause::UserCancel, .. }
            if matches!(entry.input, Input::Ticked {}) =>
        {
            let counts = Counts { cancelled: 1, ..Counts::default() };
            Some(row(Some(run.clone()), "agent_run.reconcile", Raw::encode(&counts)))
        }
        Record::Finished { run, cause, .. } if is_begun_in(entry, run) && has_failed(now) => {
            let fields = NotBegun { cause: cause.name(), waiting: now.queue.len() };
            let name = "agent_run.dispatch_next_failed";
            Some(row(Some(run.clone()), name, Raw::encode(&fields)))
        }
        _ => None,
    }
}

/// What a take-up made of the run it found: most go on, which is no news. Whether the owner before
/// had died is known to the reconciler, which counts that itself.
fn ended_by_takeover(now: &Conversation, entry: &Entry) -> Option<Counts> {
    let mine = now.run.as_ref().map(|run| &run.id);
    let ended = entry.records.iter().find_map(|record| match record {
        Record::Finished { run, cause, .. } if Some(run) == mine => Some(*cause),
        _ => None,
    });
    match ended?.state(crate::stop::Text::of("")) {
        RunState::Cancelled => Some(Counts { cancelled: 1, ..Counts::default() }),
        RunState::Failed => Some(Counts { failed: 1, ..Counts::default() }),
        RunState::TimedOut => Some(Counts { timed_out: 1, ..Counts::default() }),
        RunState::Queued
        | RunState::Running
        | RunState::WaitingOnHuman
        | RunState::WaitingOnProvider
        | RunState::Completed => None,
    }
}

fn is_begun_in(entry: &Entry, run: &RunId) -> bool {
    entry.records.iter().any(|record| matches!(record, Record::RunStarted { run: it } if it == run))
}

fn has_failed(now: &Conversation) -> bool {
    let state = now.last_end.as_ref().map(|ended| ended.cause.state(ended.has_text()));
    state == Some(RunState::Failed)
}
