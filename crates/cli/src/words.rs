//! The words people read. Deciding code never speaks to them; this page does.

use windlass::core::conversation::{Conversation, Ended};
use windlass::core::ids::{CallId, LaneId};
use windlass::core::input::Input;
use windlass::core::log::Entry;
use windlass::core::outcome;
use windlass::core::permission::Verdict;
use windlass::core::question::{About, Question};
use windlass::core::record::Record;
use windlass::{End, StopCause};

/// Characters of a call's arguments that are shown in a question.
const INPUT_CHARS: usize = 500;

/// A line about a record, if a person wants to know.
pub(crate) fn about(entry: &Entry, record: &Record) -> Option<String> {
    match record {
        Record::RoundOpened { .. } => calls(&entry.input),
        Record::Judged { call, verdict: Verdict::Deny { reason } } => {
            Some(format!("  call {call} denied: {reason}"))
        }
        Record::Completed { call } => Some(format!("  call {call} {}", returned(&entry.input))),
        Record::Retried { call, .. } => {
            Some(format!("  call {call} failed in passing; again soon"))
        }
        Record::Deferred { failures, .. } => {
            Some(format!("  the model failed ({failures} in a row); again soon"))
        }
        Record::Adopted { .. } => Some("  taken up where it was left".to_owned()),
        Record::CallLost { call } => Some(format!(
            "  call {call} was running when its process ended; its effects are unknown"
        )),
        Record::Compacted { .. } => Some("  old messages were left out to make room".to_owned()),
        _ => None,
    }
}

fn calls(input: &Input) -> Option<String> {
    let Input::Replied { reply, .. } = input else { return None };
    let names: Vec<&str> = reply.tool_uses().map(|(_, call)| &*call.name).collect();
    Some(format!("  calls {}", names.join(", ")))
}

fn returned(input: &Input) -> String {
    match input {
        Input::ToolReturned { outcome, .. } => match outcome {
            outcome::Outcome::Done(_) => "done".to_owned(),
            outcome::Outcome::Failed(error) => format!("failed: {}", first_line(&error.message)),
            outcome::Outcome::TimedOut { after_ms } => format!("timed out after {after_ms} ms"),
            outcome::Outcome::Interrupted { after_ms } => {
                format!("interrupted after {after_ms} ms")
            }
        },
        _ => "done".to_owned(),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// What is said about the end, if the answer does not speak for itself.
pub(crate) fn ending(end: &End, conversation: &str) -> Option<String> {
    match end {
        End::Finished(ended) => stopped(ended, conversation),
        End::Parked(_) => None,
        End::Refused(why) => Some(format!("windlass: the prompt was not taken: {why}")),
        End::HandedOver => Some(format!(
            "windlass: stopped in the middle; go on with `windlass resume {conversation}`"
        )),
    }
}

fn stopped(ended: &Ended, conversation: &str) -> Option<String> {
    let why = match ended.cause {
        StopCause::EndTurn | StopCause::StopSequence | StopCause::Refusal | StopCause::SoftTime => {
            return None;
        }
        StopCause::Unexpected => "the model stopped for a reason this version does not know",
        StopCause::ToolFatal => "a tool failed in a way that makes going on pointless",
        StopCause::UserCancel => "cancelled",
        StopCause::BudgetUsd => "the money cap is reached",
        StopCause::BudgetTokens => "the token cap is reached",
        StopCause::HardTime => "the time limit is reached",
        StopCause::MaxToolRounds => "the cap on tool rounds is reached; raise it with --max-turns",
        StopCause::MaxModelCalls => "the cap on model calls is reached",
        StopCause::BlockingLimit => "the context is full and nothing more can be left out",
        StopCause::TruncationExhausted => "the model's replies were cut again and again",
        StopCause::StructuredOutputRetries => "the answer never fitted its schema",
        StopCause::HookStopped => "a hook ended it",
        StopCause::WorkerLost => "its process was lost",
        StopCause::ProviderFailed => "the model's provider failed",
        StopCause::ResumeUnsafe | StopCause::AskedHuman => "it waits for a human",
    };
    Some(format!(
        "windlass: stopped ({}): {why}; conversation {conversation}",
        ended.cause.reason()
    ))
}

/// What a parked run asks, and how to answer.
pub(crate) fn waiting(questions: &[Question], now: &Conversation, lane: &LaneId) -> String {
    let line = |question: &Question| {
        let (id, what) = (question.id, what(&question.about, now));
        let choices = question.about.choices();
        format!(
            "windlass: question {id}: {what}\n  answer with `windlass answer {lane} {id} …`: {choices}"
        )
    };
    questions.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn what(about: &About, now: &Conversation) -> String {
    match about {
        About::Approval { call } => format!("may {} run?", described(*call, now)),
        About::Uncertain { call } => {
            format!("{} was running when its process ended; did it happen?", described(*call, now))
        }
        About::Asking { call } => format!("{} asks you", described(*call, now)),
        About::Guidance { question } => question.to_string(),
        About::Budget { cap } => {
            format!("the cap `{}` is reached; spend as much again?", cap.reason())
        }
        About::Drift { what } => format!("{what}; go on?"),
    }
}

/// A call as a person knows it: the tool and its arguments.
fn described(id: CallId, now: &Conversation) -> String {
    let round = now.run.as_ref().and_then(|run| run.round());
    match round.and_then(|round| round.call(id)) {
        Some(call) => {
            let input: String = call.tool_use.input.text().chars().take(INPUT_CHARS).collect();
            format!(
                "{} {}",
                call.tool_use.name,
                input.escape_debug().to_string().replace("\\\"", "\"")
            )
        }
        None => format!("call {id}"),
    }
}
