//! Messages about model calls: failures, retries, fallback, truncated and unexpected replies.

use windlass::core::log::ids::UnixMillis;
use windlass::core::log::input::Input;
use windlass::core::log::record::{AbandonCause, Transition, Truncation};
use windlass::core::message::reply::TokenUsage;
use windlass::core::stop::ReplyAnomaly;

use super::{MAX_QUOTE_CHARS, MessageContext, RecordTexts, RetryNote, SectionTopic};
use crate::messages::{abandon_cause, first_line};
use crate::terminal::number_format::group_digits;
use crate::terminal::time_format::{format_duration, format_timestamp};
use crate::terminal::to_one_line;

/// What a model call does about the reply before it.
pub(super) fn model_call_started(say: RecordTexts, transition: Transition) -> RecordTexts {
    let topic = SectionTopic::Recoveries;
    match transition {
        Transition::ContinueText => say
            .live(|| "  the reply was truncated; continuing")
            .explain(topic, || "Truncated text was continued."),
        Transition::RaiseCap => say
            .live(|| "  the reply was truncated; retrying with a higher output limit")
            .explain(topic, || "A truncated reply was requested again with a higher output limit."),
        Transition::ReissueToolUse => {
            say.explain(topic, || "A truncated call was requested again.")
        }
        Transition::Reprompt => {
            say.explain(topic, || "A reply was discarded (drift) and requested again.")
        }
        Transition::Prompt
        | Transition::ToolResults
        | Transition::Resume
        | Transition::Steer
        | Transition::Retry
        | Transition::Compacted
        | Transition::OwnerChanged
        | Transition::Rejected
        | Transition::Guidance
        | Transition::WrapUp => say,
    }
}

/// Whether the output limit truncated a reply.
pub(super) fn model_replied(say: RecordTexts, truncation: Truncation) -> RecordTexts {
    match truncation {
        Truncation::Complete => say,
        Truncation::Truncated => say
            .timeline(|| "the reply was truncated")
            .explain(SectionTopic::Recoveries, || "A reply was truncated by the output limit."),
    }
}

/// A model call without a reply.
pub(super) fn model_call_abandoned(
    say: RecordTexts,
    context: &MessageContext<'_>,
    cause: &AbandonCause,
    charged: &TokenUsage,
) -> RecordTexts {
    let reason = abandon_cause(cause);
    say.live(|| match cause {
        AbandonCause::OwnerEnded => {
            "  the previous model call was interrupted; asking again".to_owned()
        }
        AbandonCause::Cancelled => "  the model call was cancelled".to_owned(),
        AbandonCause::TimeLimit | AbandonCause::Failed(_) => {
            let again = context.retry().map(retry_phrase).unwrap_or_default();
            format!("  model call failed: {}{again}", first_line(reason))
        }
    })
    .timeline(|| format!("model call failed: {reason}"))
    .explain(SectionTopic::Recoveries, || {
        let tokens = group_digits(charged.total_tokens());
        let reason = to_one_line(reason, MAX_QUOTE_CHARS);
        format!("A model call failed ({reason}); tokens charged: {tokens}.")
    })
}

fn retry_phrase(note: RetryNote) -> String {
    let tenths = note.in_ms.div_ceil(100);
    let (whole, tenth) = (tenths / 10, tenths % 10);
    let left = note.gives_up_in_ms.map(|ms| format!(", giving up in {}", format_duration(ms)));
    let left = left.unwrap_or_default();
    format!("; retrying in {whole}.{tenth} s (attempt {}{left})", note.failures)
}

/// The retry of a failed model call. Live output has it in the line about the failure.
pub(super) fn model_retry_scheduled(
    say: RecordTexts,
    context: &MessageContext<'_>,
    until: UnixMillis,
    failures: u32,
) -> RecordTexts {
    say.timeline(|| format!("model call failed ({failures} in a row); it is retried")).explain(
        SectionTopic::Recoveries,
        || {
            let reason = failure_message(&context.entry.input)
                .map(|reason| format!(": {}", to_one_line(reason, MAX_QUOTE_CHARS)))
                .unwrap_or_default();
            let until = format_timestamp(until);
            format!("The model call failed ({failures} in a row){reason}; retried at {until}.")
        },
    )
}

#[expect(clippy::wildcard_enum_match_arm, reason = "one input carries the failure")]
fn failure_message(input: &Input) -> Option<&str> {
    match input {
        Input::ModelFailed { failure, .. } => Some(&failure.message),
        _ => None,
    }
}

/// The fallback model is used from here on.
pub(super) fn fallback_model_selected(
    say: RecordTexts,
    context: &MessageContext<'_>,
    reason: &str,
) -> RecordTexts {
    let model = || context.after()?.active_model().map(|model| model.name.to_string());
    say.live(|| format!("  ! switching to the fallback model: {reason}"))
        .timeline(|| {
            format!("switched to the fallback model {}: {reason}", model().unwrap_or_default())
        })
        .explain(SectionTopic::Recoveries, || {
            let (model, reason) =
                (model().unwrap_or_default(), to_one_line(reason, MAX_QUOTE_CHARS));
            format!("The fallback model {model} is used from here on: {reason}.")
        })
}

/// The model was changed by a command.
pub(super) fn model_changed(say: RecordTexts, model: &str) -> RecordTexts {
    say.live(|| format!("  ! the model is {model} from here on"))
        .timeline(|| format!("the model is {model} from here on"))
        .explain(SectionTopic::Recoveries, || {
            format!("The model was changed: {model} is called from here on.")
        })
}

/// A reply that differs from what the protocol promises.
pub(super) fn anomaly(
    say: RecordTexts,
    context: &MessageContext<'_>,
    what: ReplyAnomaly,
) -> RecordTexts {
    let value = || anomaly_value(what, &context.entry.input).unwrap_or_default();
    let phrase = match what {
        ReplyAnomaly::UnknownStopReason => {
            return say.timeline(|| format!("unknown stop reason `{}`", value())).explain(
                SectionTopic::Recoveries,
                || {
                    let value = value();
                    format!("The model stopped with `{value}`, which this version does not know.")
                },
            );
        }
        ReplyAnomaly::CallsWithoutToolUse => "calls with a stop reason other than `tool_use`",
        ReplyAnomaly::ToolUseWithoutCalls => "`tool_use` without a call",
        ReplyAnomaly::EmptyAnswer => "the answer was empty",
        ReplyAnomaly::UnknownStopString => "a stop sequence matched that is not configured",
        ReplyAnomaly::RepeatedCallId => "duplicate call id",
    };
    say.timeline(|| format!("reply anomaly: {phrase}"))
        .explain(SectionTopic::Recoveries, || format!("Reply anomaly: {phrase}."))
}

/// The unexpected value that the provider sent.
#[expect(clippy::wildcard_enum_match_arm, reason = "one input carries the reply")]
fn anomaly_value(what: ReplyAnomaly, input: &Input) -> Option<&str> {
    match input {
        Input::ModelReplied { reply, .. } => what.provider_value(reply),
        _ => None,
    }
}

/// A discarded reply.
pub(super) fn reply_dropped(say: RecordTexts, why: Option<&str>) -> RecordTexts {
    say.live(|| why.map(|reason| format!("  ! the reply was discarded: {}", first_line(reason))))
        .timeline(|| "the reply was discarded")
}
