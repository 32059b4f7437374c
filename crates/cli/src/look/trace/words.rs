//! The words around the column of iterations.

use windlass::core::call::{Call, CallState};
use windlass::core::ids::{Millis, RunId};
use windlass::core::project::TraceCall;
use windlass::core::record::Record;

use crate::look::paper::clean;
use crate::look::story::Story;
use crate::look::time::{offset, span};
use crate::look::words::why;

/// The names of the columns.
pub(super) fn heading(room: usize, first: Millis) -> String {
    // The zone stands in the heading, once for all rows.
    let time = format!("at{}", offset(first));
    let (iter, because, calls) = ("iter", "because of", "calls");
    format!("{iter:>4} {time:<8} {because:<16} {calls:<room$} {:>8} {:>6} stop", "in", "out")
}

/// A call: its tool, how long it took, how it ended.
pub(super) fn call(call: &TraceCall) -> String {
    let ended = match (call.ok, call.outcome) {
        (true, _) => "ok",
        (false, "") => "failed",
        (false, outcome) => outcome,
    };
    format!("{} {} {ended}", clean(&call.name), span(call.ms))
}

/// A call of a round that is not over.
pub(super) fn open_call(call: &Call) -> String {
    let doing = match &call.state {
        CallState::BeforeHook | CallState::AfterHook(_) => "waits for a hook",
        CallState::Unjudged | CallState::Ready => "waits its turn",
        CallState::Referred => "waits for the classifier",
        CallState::Questioned(_) => "waits for you",
        CallState::Running { .. } => "runs",
        CallState::Away(_) => "waits for children",
        CallState::Resting { .. } => "is tried again soon",
        CallState::Lost => "was lost",
        CallState::Settled(shown) => shown.kind.as_str(),
    };
    format!("{} {doing}", clean(&call.tool_use.name))
}

/// Why the run ended, or what it does.
pub(super) fn closing(story: &Story, run: &RunId) -> String {
    for entry in &story.entries {
        for record in &entry.records {
            if let Record::Finished { run: ended, cause, .. } = record
                && ended == run
            {
                let (reason, seq) = (cause.reason(), entry.seq);
                return format!("ended: {reason}: {} [entry {seq}]", why(*cause));
            }
        }
    }
    match &story.now.run {
        Some(active) if active.id == *run => {
            let waits = active.questions().count();
            match waits {
                0 => format!("not over: {}", active.phase_name()),
                _ => format!("not over: waits for you ({waits} open)"),
            }
        }
        Some(_) | None => "not over: waits its turn".to_owned(),
    }
}
