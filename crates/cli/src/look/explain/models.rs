//! The model: failures and retries, the fallback, cut replies, and a new owner in between.

use windlass::core::input::Input;
use windlass::core::record::{Record, Transition, Truncation};
use windlass::core::stop::Anomaly;

use super::words;
use super::{Past, Sentence};
use crate::look::story::Moment;
use crate::look::words::call_named;

/// Listens to what is said about the model and about what was tried again.
pub(super) fn hear(said: &mut Vec<Sentence>, moment: Moment<'_>) {
    let text = match moment.record {
        Record::Deferred { failures, until } => {
            Some(words::model_retry(*failures, *until, failure(&moment.entry.input).as_deref()))
        }
        Record::AttemptAbandoned { why, charged, .. } => Some(words::abandoned(why, charged)),
        Record::FellBack { why } => {
            let model = moment.now.model_in_use().map_or("", |model| &*model.name);
            Some(words::fell_back(model, why))
        }
        Record::Replied { truncation: Truncation::Cut, .. } => Some(words::REPLY_CUT.to_owned()),
        Record::Asked { transition, .. } => recovery(*transition).map(str::to_owned),
        Record::Anomaly { what } => Some(words::anomaly(*what, value(*what, &moment.entry.input))),
        Record::Retried { call, until } => {
            Some(words::tool_retry(&call_named(*call, moment.now), *until))
        }
        Record::Adopted { .. } => Some(words::ADOPTED.to_owned()),
        _ => None,
    };
    Sentence::add(said, text, moment.entry.seq);
}

/// The word of the provider that was odd.
fn value(what: Anomaly, input: &Input) -> Option<&str> {
    match input {
        Input::Replied { reply, .. } => what.value(reply),
        _ => None,
    }
}

fn failure(input: &Input) -> Option<String> {
    match input {
        Input::ModelFailed { failure, .. } => Some(failure.message.to_string()),
        _ => None,
    }
}

/// What was done about a cut or odd reply.
fn recovery(transition: Transition) -> Option<&'static str> {
    match transition {
        Transition::ContinueText => Some(words::CONTINUED),
        Transition::ReissueToolUse => Some(words::REISSUED),
        Transition::RaiseCap => Some(words::CAP_RAISED),
        Transition::Reprompt => Some(words::REPROMPTED),
        Transition::Prompt
        | Transition::ToolResults
        | Transition::Resume
        | Transition::Steer
        | Transition::Retry
        | Transition::Compacted
        | Transition::Adopted
        | Transition::Rejected
        | Transition::Guided
        | Transition::SumUp => None,
    }
}

/// How many of the recoveries from cut replies were used.
pub(super) fn with_count(mut said: Vec<Sentence>, past: &Past<'_>) -> Vec<Sentence> {
    if let Some(settings) = past.at_end.settings.as_ref().filter(|_| past.cut_in_a_row > 0) {
        let most = settings.limits.truncations;
        said.push(Sentence::plain(words::truncations(past.cut_in_a_row, most)));
    }
    said
}
