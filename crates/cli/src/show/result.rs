//! The result as one JSON object.

use serde::Serialize;
use windlass::core::conversation::Ended;
use windlass::core::question::Question;
use windlass::core::reply::Usage;
use windlass::core::stop::{RunState, Subtype};
use windlass::{End, StopCause};

#[derive(Serialize)]
struct ResultObject<'a> {
    r#type: &'static str,
    subtype: Subtype,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a str>,
    terminal_reason: &'a str,
    /// Set only where they say something: the model declined, or stopped for an unknown reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unexpected: Option<bool>,
    num_turns: u32,
    session_id: &'a str,
    usage: Usage,
    #[serde(skip_serializing_if = "<[Question]>::is_empty")]
    questions: &'a [Question],
}

/// Whether there is a result.
pub(super) fn is_success(end: &End) -> bool {
    match end {
        End::Finished(ended) => ended.cause.state(ended.has_text()) == RunState::Completed,
        End::Parked(_) | End::Refused(_) | End::HandedOver => false,
    }
}

/// The result as one JSON object.
pub(super) fn json(end: &End, conversation: &str) -> anyhow::Result<String> {
    let object = match end {
        End::Finished(ended) => finished(ended, conversation),
        End::Parked(questions) => without(conversation, "waiting_on_human", questions),
        End::Refused(why) => without(conversation, why, &[]),
        End::HandedOver => without(conversation, "handed_over", &[]),
    };
    Ok(serde_json::to_string(&object)?)
}

fn finished<'a>(ended: &'a Ended, conversation: &'a str) -> ResultObject<'a> {
    let subtype = ended.cause.subtype(ended.has_text());
    ResultObject {
        r#type: "result",
        subtype,
        is_error: subtype != Subtype::Success,
        result: (subtype == Subtype::Success).then_some(&*ended.text),
        terminal_reason: ended.cause.terminal(),
        refusal: (ended.cause == StopCause::Refusal).then_some(true),
        unexpected: (ended.cause == StopCause::Unexpected).then_some(true),
        num_turns: ended.counters.tool_rounds,
        session_id: conversation,
        usage: ended.counters.usage,
        questions: &[],
    }
}

fn without<'a>(
    conversation: &'a str,
    reason: &'a str,
    questions: &'a [Question],
) -> ResultObject<'a> {
    ResultObject {
        r#type: "result",
        subtype: Subtype::ErrorDuringExecution,
        is_error: true,
        result: None,
        terminal_reason: reason,
        refusal: None,
        unexpected: None,
        num_turns: 0,
        session_id: conversation,
        usage: Usage::default(),
        questions,
    }
}
