//! The words around the column of iterations.

use windlass::StopCause;
use windlass::core::call::{Call, CallState};
use windlass::core::ids::{Millis, RunId};
use windlass::core::project::{TraceCall, TraceRow};
use windlass::core::record::Record;

use crate::look::paper::{clean, cut};
use crate::look::story::Story;
use crate::look::time::{clock, offset, span};
use crate::look::words::why;

/// The names of the columns.
pub(super) fn heading(room: usize, first: Millis) -> String {
    // The zone stands in the heading, once for all rows.
    let time = format!("at{}", offset(first));
    let (iter, because, calls) = ("iter", "because of", "calls");
    format!("{iter:>4} {time:<8} {because:<16} {calls:<room$} {:>8} {:>6} stop", "in", "out")
}

/// What the model gave as its reason, if this version does not know it.
pub(super) fn unknown_reason(rows: &[TraceRow]) -> Option<String> {
    let last = rows.last()?;
    let said = last.reply_stop_reason.as_ref()?;
    (&*last.stop_reason == StopCause::Unexpected.reason())
        .then(|| format!("the model's stop reason was `{}`", clean(said)))
}

/// Which model made which iterations, if more than one did.
pub(super) fn models(rows: &[TraceRow]) -> Vec<String> {
    let mut spans: Vec<(&str, u32, u32)> = Vec::new();
    for row in rows {
        let model = row.model.as_deref().unwrap_or_default();
        match spans.last_mut() {
            Some((last, _, upto)) if *last == model => *upto = row.iter,
            Some(_) | None => spans.push((model, row.iter, row.iter)),
        }
    }
    let line = |(model, from, upto): &(&str, u32, u32)| match from == upto {
        true => format!("iteration {from} asked {}", clean(model)),
        false => format!("iterations {from} to {upto} asked {}", clean(model)),
    };
    spans.iter().map(line).filter(|_| spans.len() > 1).collect()
}

/// The names of the columns on a narrow terminal.
pub(super) fn stacked_heading(first: Millis) -> String {
    format!("iter at{} because of, tokens in / out, stop", offset(first))
}

/// A row on a narrow terminal, without its calls.
pub(super) fn stacked_row(row: &TraceRow, input: &str, output: &str) -> String {
    let (time, stop) = (clock(row.at), cut(&clean(&row.stop_reason), 24));
    format!("{:>4} {time} {}, {input} / {output}, {stop}", row.iter, row.transition)
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
        CallState::Unjudged | CallState::Ready => "is queued",
        CallState::Referred => "waits for the classifier",
        CallState::Questioned(_) => "needs an answer",
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
                let (name, seq) = (cause.name(), entry.seq);
                return format!("ended: {name}: {} [entry {seq}]", why(*cause));
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
