//! Model calls: failures and retries, fallback, truncated replies, and owner changes in between.

use windlass::core::log::input::Input;
use windlass::core::log::record::{Record, Transition, Truncation};
use windlass::core::stop::ReplyAnomaly;

use super::{ExplainSentence, RunPast};
use crate::inspect::history::RecordContext;
use crate::messages::inspect::call_text;
use crate::messages::report;

/// Collects sentences about model calls and retries from a record.
pub(super) fn observe(said: &mut Vec<ExplainSentence>, moment: RecordContext<'_>) {
    let text = match moment.record {
        Record::ModelRetryScheduled { failures, until } => {
            Some(report::explain::model_retry_scheduled(
                *failures,
                *until,
                failure_message(&moment.entry.input).as_deref(),
            ))
        }
        Record::ModelCallAbandoned { cause, charged, .. } => {
            let why = crate::messages::abandon_cause(cause);
            Some(report::explain::model_call_failed(why, charged))
        }
        Record::FallbackModelSelected { why } => {
            let model = moment.after.active_model().map_or("", |model| &*model.name);
            Some(report::explain::fallback_model_selected(model, why))
        }
        Record::ModelReplied { truncation: Truncation::Truncated, .. } => {
            Some(report::explain::REPLY_TRUNCATED.to_owned())
        }
        Record::ModelCallStarted { transition, .. } => {
            recovery_sentence(*transition).map(str::to_owned)
        }
        Record::AnomalyDetected { what } => {
            Some(report::explain::reply_anomaly(*what, anomaly_value(*what, &moment.entry.input)))
        }
        Record::CallRetryScheduled { call, until } => {
            Some(report::explain::call_retry_scheduled(&call_text(*call, moment.after), *until))
        }
        Record::OwnerChanged { .. } => Some(report::explain::OWNER_CHANGED.to_owned()),
        _ => None,
    };
    ExplainSentence::push_or_repeat(said, text, moment.entry.seq);
}

/// The unexpected value that the provider sent.
fn anomaly_value(what: ReplyAnomaly, input: &Input) -> Option<&str> {
    match input {
        Input::ModelReplied { reply, .. } => what.provider_value(reply),
        _ => None,
    }
}

fn failure_message(input: &Input) -> Option<String> {
    match input {
        Input::ModelFailed { failure, .. } => Some(failure.message.to_string()),
        _ => None,
    }
}

/// What was done about a truncated or unexpected reply.
fn recovery_sentence(transition: Transition) -> Option<&'static str> {
    match transition {
        Transition::ContinueText => Some(report::explain::TEXT_CONTINUED),
        Transition::ReissueToolUse => Some(report::explain::CALL_REISSUED),
        Transition::RaiseCap => Some(report::explain::OUTPUT_CAP_RAISED),
        Transition::Reprompt => Some(report::explain::REPLY_DISCARDED),
        Transition::Prompt
        | Transition::ToolResults
        | Transition::Resume
        | Transition::Steer
        | Transition::Retry
        | Transition::Compacted
        | Transition::OwnerChanged
        | Transition::Rejected
        | Transition::Guidance
        | Transition::WrapUp => None,
    }
}

/// Adds how many of the recoveries from truncated replies were used.
pub(super) fn add_truncation_count(
    mut said: Vec<ExplainSentence>,
    past: &RunPast<'_>,
) -> Vec<ExplainSentence> {
    if let Some(settings) = past.state_at_end.settings.as_ref().filter(|_| past.max_truncations > 0)
    {
        let most = settings.limits.truncations;
        said.push(ExplainSentence::without_proof(report::explain::truncations_used(
            past.max_truncations,
            most,
        )));
    }
    said
}
