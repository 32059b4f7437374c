//! What happened between the words of a conversation, in a line each.

use windlass::StopCause;
use windlass::core::record::{Record, Stop, TimeLimit, Truncation};
use windlass::core::stop::Anomaly;

use crate::look::numbers::counted;
use crate::look::story::Moment;
use crate::look::words::{call_named, rung, stored_name, why, within};
use crate::words::rejecter;

/// How a run ended.
pub(super) fn ended(cause: StopCause) -> String {
    format!("ended ({}): {}", cause.name(), why(cause))
}

/// What a record tells, if a reader wants to know.
pub(super) fn event(moment: Moment<'_>) -> Option<String> {
    of_model(moment)
        .or_else(|| of_calls(moment))
        .or_else(|| of_room(moment))
        .or_else(|| of_run(moment))
}

fn of_model(moment: Moment<'_>) -> Option<String> {
    Some(match moment.record {
        Record::ReplyDropped { .. } => "the reply was thrown away".to_owned(),
        Record::AttemptAbandoned { why, .. } => format!("a model call brought nothing: {why}"),
        Record::Deferred { failures, .. } => {
            format!("the model failed ({failures} in a row); it is asked again later")
        }
        Record::FellBack { why } => {
            let model = moment.now.model_in_use().map_or("", |model| &*model.name);
            format!("the fallback model {model} is asked from here on: {why}")
        }
        Record::Anomaly { what: Anomaly::EmptyAnswer } => "the answer was empty".to_owned(),
        Record::Anomaly { what: what @ Anomaly::UnknownStopReason } => {
            let reply = moment.now.last_reply.as_ref().map(|last| &last.reply);
            let value = reply.and_then(|reply| what.value(reply)).unwrap_or_default();
            format!("unknown stop reason `{value}`")
        }
        Record::Anomaly { what } => format!("something odd: {}", stored_name(what)),
        Record::Replied { truncation: Truncation::Cut, .. } => "the reply was cut".to_owned(),
        _ => return None,
    })
}

fn of_calls(moment: Moment<'_>) -> Option<String> {
    let named = |call| call_named(call, moment.now);
    Some(match moment.record {
        Record::InputChanged { call } => format!("a hook changed the arguments: {}", named(*call)),
        Record::Retried { call, .. } => {
            format!("{} failed in passing; it is tried again", named(*call))
        }
        Record::CallLost { call } => {
            format!("{} was running when its process ended; effects unknown", named(*call))
        }
        Record::Granted { rule, folder } => {
            format!("the rule {rule} is kept for this conversation{}", within(folder))
        }
        Record::Spawned { call, .. } => format!("children work for {}", named(*call)),
        Record::ChildBack { .. } => "a child came back".to_owned(),
        Record::TurnedFatal { call } => format!("{} ends the run", named(*call)),
        _ => return None,
    })
}

fn of_room(moment: Moment<'_>) -> Option<String> {
    let count = |count: usize, thing| counted(count as u64, thing);
    Some(match moment.record {
        Record::Compacted { keep_from, rung: by, .. } => {
            let by = by.map_or("a compaction", rung);
            format!("{by}: {} gave way to a note", counted(*keep_from, "message part"))
        }
        Record::Pruned { stage, rewrites } => {
            format!("{}: {} cut or taken out", stage.name(), count(rewrites.len(), "old block"))
        }
        Record::Climbed { rung: by } => format!("{}: the context is being lost", rung(*by)),
        Record::CompactionAsked { .. } => "a compaction was requested".to_owned(),
        _ => return None,
    })
}

fn of_run(moment: Moment<'_>) -> Option<String> {
    Some(match moment.record {
        Record::MailRefused { why, .. } => format!("something was not taken: {why}"),
        Record::Adopted { .. } => "resumed by another process".to_owned(),
        Record::Rejected { by, reason, .. } => {
            format!("the answer was rejected by {}: {reason}", rejecter(*by))
        }
        Record::Suspected { why } => format!("the answer counts, but is doubtful: {why}"),
        Record::Watched { level, found: Some(found) } => {
            format!("{} repeats itself; the guard is at `{}`", found.tool, stored_name(level))
        }
        Record::TimeUp { limit: TimeLimit::Soft } => "its time is up; it sums up".to_owned(),
        Record::TimeUp { limit: TimeLimit::Hard } => "its time is up for good".to_owned(),
        Record::Slept {} => "no process was running; the time does not count".to_owned(),
        Record::BudgetWarned { percent } => format!("{percent} % of a budget is spent"),
        Record::BudgetExtended {} => "a person doubled the budget".to_owned(),
        Record::CancelRequested { how: Stop::Cancel, .. } => "asked to end".to_owned(),
        Record::CancelRequested { how: Stop::Abort, .. } => "told to end at once".to_owned(),
        Record::Forked { parent, at } => format!("forked from {parent} after entry {at}"),
        Record::PromptWithdrawn {} => "the prompt was taken back".to_owned(),
        Record::Remembered { .. } => "instructions were found and read".to_owned(),
        _ => return None,
    })
}
