//! Headings and cells of the iteration table.

use windlass::StopCause;
use windlass::core::call::call_state::{Call, CallState};
use windlass::core::log::ids::{RunId, UnixMillis};
use windlass::core::log::record::Record;
use windlass::core::projection::{TraceCall, TraceRow};

use crate::inspect::history::ConversationHistory;
use crate::messages::{phase_phrase, stop_reason};
use crate::terminal::time_format::{format_clock, format_duration, format_offset};
use crate::terminal::{sanitize_line, truncate};

/// The heading of the table.
pub(crate) fn table_heading(calls_width: usize, first: UnixMillis) -> String {
    // The time zone is in the heading, once for all rows.
    let time = format!("at{}", format_offset(first));
    let (iter, because, calls) = ("iter", "reason", "calls");
    format!("{iter:>4} {time:<8} {because:<16} {calls:<calls_width$} {:>8} {:>6} stop", "in", "out")
}

/// The model's stop reason, if this version does not know it.
pub(crate) fn unknown_reason(rows: &[TraceRow]) -> Option<String> {
    let last = rows.last()?;
    let text = last.reply_stop_reason.as_ref()?;
    (&*last.stop_reason == StopCause::Unexpected.trace_reason())
        .then(|| format!("the model's stop reason was `{}`", sanitize_line(text)))
}

/// Which model made which iterations, if there was more than one.
pub(crate) fn model_lines(rows: &[TraceRow]) -> Vec<String> {
    let mut spans: Vec<(&str, u32, u32)> = Vec::new();
    for row in rows {
        let model = row.model.as_deref().unwrap_or_default();
        match spans.last_mut() {
            Some((last, _, upto)) if *last == model => *upto = row.iter,
            Some(_) | None => spans.push((model, row.iter, row.iter)),
        }
    }
    let line = |(model, from, upto): &(&str, u32, u32)| match from == upto {
        true => format!("iteration {from} used {}", sanitize_line(model)),
        false => format!("iterations {from} to {upto} used {}", sanitize_line(model)),
    };
    spans.iter().map(line).filter(|_| spans.len() > 1).collect()
}

/// The heading of the table on a narrow terminal.
pub(crate) fn narrow_heading(first: UnixMillis) -> String {
    format!("iter at{} reason, tokens in / out, stop", format_offset(first))
}

/// A row on a narrow terminal, without its calls.
pub(crate) fn narrow_row(row: &TraceRow, input: &str, output: &str) -> String {
    let (time, stop) = (format_clock(row.at), truncate(&sanitize_line(&row.stop_reason), 24));
    format!("{:>4} {time} {}, {input} / {output}, {stop}", row.iter, row.transition)
}

/// A finished call: its tool, duration and outcome.
pub(crate) fn call_cell(call: &TraceCall) -> String {
    let ended = match (call.ok, call.outcome) {
        (true, _) => "ok",
        (false, "") => "failed",
        (false, outcome) => outcome,
    };
    format!("{} {} {ended}", sanitize_line(&call.name), format_duration(call.ms))
}

/// A call of a round in progress.
pub(crate) fn open_call_cell(call: &Call) -> String {
    let doing = match &call.state {
        CallState::AwaitingPreHook | CallState::AwaitingPostHook(_) => "waits for a hook",
        CallState::AwaitingPermission | CallState::Ready => "is queued",
        CallState::AwaitingClassifier => "waits for the classifier",
        CallState::AwaitingHuman(_) => "needs an answer",
        CallState::Running { .. } => "running",
        CallState::AwaitingChildren(_) => "waits for sub-agents",
        CallState::AwaitingRetry { .. } => "waits for a retry",
        CallState::Lost => "was interrupted",
        CallState::Finished(result) => result.kind.as_str(),
    };
    format!("{} {doing}", sanitize_line(&call.tool_use.name))
}

/// Why the run ended, or what it does.
pub(crate) fn closing_line(history: &ConversationHistory, run: &RunId) -> String {
    for entry in &history.entries {
        for record in &entry.records {
            if let Record::RunFinished { run: ended, cause, .. } = record
                && ended == run
            {
                let (name, seq) = (cause.as_str(), entry.seq);
                return format!("stopped ({name}): {} [entry {seq}]", stop_reason(*cause));
            }
        }
    }
    match &history.conversation.run {
        Some(active) if active.id == *run => {
            let waits = active.open_questions().count();
            match waits {
                0 => format!("not finished: {}", phase_phrase(&active.phase)),
                _ => format!("not finished: waiting for an answer ({waits} open)"),
            }
        }
        Some(_) | None => "not finished: queued".to_owned(),
    }
}
