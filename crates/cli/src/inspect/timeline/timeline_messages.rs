//! One-line messages of a timeline.

use windlass::StopCause;
use windlass::core::log::record::{Record, StopMode, TimeLimit, Truncation};
use windlass::core::stop::ReplyAnomaly;

use crate::inspect::history::RecordContext;
use crate::messages;
use crate::messages::inspect::call_text;
use crate::messages::inspect::recovery_step_name;
use crate::messages::inspect::stop_phrase;
use crate::messages::inspect::stored_name;
use crate::messages::inspect::within;
use crate::messages::rejection_source;
use crate::terminal::number_format::count_noun;

/// The line for the end of a run.
pub(super) fn stop_line(cause: StopCause) -> String {
    format!("ended ({}): {}", cause.as_str(), stop_phrase(cause))
}

/// The line for a record, if it is of interest to a reader.
pub(super) fn event_line(moment: RecordContext<'_>) -> Option<String> {
    model_event_line(moment)
        .or_else(|| call_event_line(moment))
        .or_else(|| compaction_event_line(moment))
        .or_else(|| run_event_line(moment))
}

fn model_event_line(moment: RecordContext<'_>) -> Option<String> {
    Some(match moment.record {
        Record::ReplyDropped { .. } => "the reply was thrown away".to_owned(),
        Record::ModelCallAbandoned { cause, .. } => {
            format!("model call failed: {}", messages::abandon_cause(cause))
        }
        Record::ModelRetryScheduled { failures, .. } => {
            format!("the model failed ({failures} in a row); it is asked again later")
        }
        Record::FallbackModelSelected { why } => {
            let model = moment.after.active_model().map_or("", |model| &*model.name);
            format!("the fallback model {model} is asked from here on: {why}")
        }
        Record::AnomalyDetected { what: ReplyAnomaly::EmptyAnswer } => {
            "the answer was empty".to_owned()
        }
        Record::AnomalyDetected { what: what @ ReplyAnomaly::UnknownStopReason } => {
            let reply = moment.after.last_reply.as_ref().map(|last| &last.reply);
            let value = reply.and_then(|reply| what.provider_value(reply)).unwrap_or_default();
            format!("unknown stop reason `{value}`")
        }
        Record::AnomalyDetected { what } => format!("something odd: {}", stored_name(what)),
        Record::ModelReplied { truncation: Truncation::Truncated, .. } => {
            "the reply was cut".to_owned()
        }
        _ => return None,
    })
}

fn call_event_line(moment: RecordContext<'_>) -> Option<String> {
    let named = |call| call_text(call, moment.after);
    Some(match moment.record {
        Record::CallInputChanged { call } => {
            format!("a hook changed the arguments: {}", named(*call))
        }
        Record::CallRetryScheduled { call, .. } => {
            format!("{} failed in passing; it is tried again", named(*call))
        }
        Record::CallLost { call } => {
            format!("{} was running when its process ended; effects unknown", named(*call))
        }
        Record::RuleGranted { rule, folder } => {
            format!("the rule {rule} is kept for this conversation{}", within(folder))
        }
        Record::ChildrenSpawned { call, .. } => format!("children work for {}", named(*call)),
        Record::ChildResultReceived { .. } => "a child came back".to_owned(),
        Record::FatalToolError { call } => format!("{} ends the run", named(*call)),
        _ => return None,
    })
}

fn compaction_event_line(moment: RecordContext<'_>) -> Option<String> {
    let count = |count: usize, thing| count_noun(count as u64, thing);
    Some(match moment.record {
        Record::Compacted { keep_from, step: by, .. } => {
            let by = by.map_or("a compaction", recovery_step_name);
            format!("{by}: {} gave way to a note", count_noun(*keep_from, "message part"))
        }
        Record::Pruned { stage, rewrites } => {
            format!("{}: {} cut or taken out", stage.name(), count(rewrites.len(), "old block"))
        }
        Record::RecoveryStepUsed { step: by } => {
            format!("{}: the context is being lost", recovery_step_name(*by))
        }
        Record::CompactionRequested { .. } => "a compaction was requested".to_owned(),
        _ => return None,
    })
}

fn run_event_line(moment: RecordContext<'_>) -> Option<String> {
    Some(match moment.record {
        Record::CommandRejected { reason, .. } => {
            format!("a command was rejected: {}", messages::command_rejection(reason))
        }
        Record::OwnerChanged { .. } => "resumed by another process".to_owned(),
        Record::AnswerRejected { by, reason, .. } => {
            format!("the answer was rejected by {}: {reason}", rejection_source(*by))
        }
        Record::AnswerMarkedSuspect { why } => format!("the answer counts, but is doubtful: {why}"),
        Record::LoopDetectionUpdated { level, finding: Some(found) } => {
            format!("{} repeats itself; the guard is at `{}`", found.tool, stored_name(level))
        }
        Record::TimeLimitReached { limit: TimeLimit::Soft } => {
            "its time is up; it sums up".to_owned()
        }
        Record::TimeLimitReached { limit: TimeLimit::Hard } => "its time is up for good".to_owned(),
        Record::SleepDetected {} => "no process was running; the time does not count".to_owned(),
        Record::BudgetWarned { percent } => format!("{percent} % of a budget is spent"),
        Record::BudgetExtended {} => "a person doubled the budget".to_owned(),
        Record::CancelRequested { mode: StopMode::Cancel, .. } => "asked to end".to_owned(),
        Record::CancelRequested { mode: StopMode::Abort, .. } => "told to end at once".to_owned(),
        Record::Forked { parent, at } => format!("forked from {parent} after entry {at}"),
        Record::PromptWithdrawn {} => "the prompt was taken back".to_owned(),
        Record::InstructionsAdded { .. } | Record::ToolContextAdded { .. } => {
            "instructions were found and read".to_owned()
        }
        _ => return None,
    })
}
