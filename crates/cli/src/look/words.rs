//! The words of looking back that several commands share.

use std::path::Path;
use std::sync::Arc;

use windlass::StopCause;
use windlass::core::block::{Block, Kind};
use windlass::core::conversation::Conversation;
use windlass::core::ids::{CallId, LaneId};
use windlass::core::mail::Answer;
use windlass::core::outcome::Shown;
use windlass::core::question::{About, Question};
use windlass::core::raw::Raw;
use windlass::core::run::Run;
use windlass::core::stop::RunState;
use windlass::core::window::Rung;

use super::paper::cut;
use crate::present;
use crate::words::{option_word, shell_word};

/// Ids named when several fit.
const MOST_NAMES: usize = 4;

/// Characters of a call's arguments.
const INPUT_CHARS: usize = 500;

/// Nothing was typed.
pub(crate) const NO_ID: &str = "the id is empty; give that of a run or a conversation, or none for the newest run of this folder";

/// There is nothing to find anything in.
pub(crate) fn no_runs_at_all(id: &str) -> String {
    format!("there is no `{id}`: no runs yet; start one with `windlass -p \"…\"`")
}

/// Nothing fits.
pub(crate) fn unknown(id: &str) -> String {
    format!("no run or conversation has the id `{id}`; list them with `windlass runs`")
}

/// Nothing ran in the folder.
pub(crate) fn no_run_in(folder: &Path) -> String {
    format!(
        "no run in {} yet; give an id (`windlass runs` lists them), or start one with \
         `windlass -p \"…\"`",
        folder.display()
    )
}

/// Several fit.
pub(crate) fn ambiguous(id: &str, names: &[&str]) -> String {
    let shown: Vec<&str> = names.iter().take(MOST_NAMES).copied().collect();
    let more = if names.len() > MOST_NAMES { ", …" } else { "" };
    format!("`{id}` is not unique, it fits {}{more}; give more of it", shown.join(" and "))
}

/// What was typed to go on talking.
pub(crate) fn go_on(lane: &LaneId) -> String {
    format!("windlass -p \"…\" {}", option_word("--conversation", lane))
}

/// A run's state as people say it.
pub(crate) fn state(state: RunState) -> &'static str {
    match state {
        RunState::Queued => "is queued",
        RunState::Running => "is running",
        RunState::WaitingOnHuman => "needs an answer",
        RunState::WaitingOnProvider => "waits for the provider",
        RunState::Completed => "completed",
        RunState::Failed => "failed",
        RunState::Cancelled => "was cancelled",
        RunState::TimedOut => "ran out of time",
    }
}

/// Why a run ended, in a sentence.
pub(crate) fn why(cause: StopCause) -> &'static str {
    match cause {
        StopCause::EndTurn => "the model finished its turn",
        StopCause::StopSequence => "the model wrote a stop string that means the end",
        StopCause::Refusal => "the model declined",
        StopCause::Unexpected => "the model stopped for a reason this version does not know",
        StopCause::ToolFatal => "a tool failed fatally",
        StopCause::UserCancel => "it was cancelled",
        StopCause::BudgetUsd => "the budget in dollars is spent",
        StopCause::BudgetTokens => "the budget in tokens is spent",
        StopCause::PriceUnknown => {
            "price unknown: a budget in dollars cannot be kept for this model"
        }
        StopCause::SoftTime => "the time for the run was up, so it summed up what it had",
        StopCause::HardTime => "the time limit is reached",
        StopCause::MaxToolRounds => "the limit of rounds with tool calls is reached",
        StopCause::MaxModelCalls => "the limit of model calls is reached",
        StopCause::BlockingLimit => "the context is full and nothing more could be left out",
        StopCause::TruncationExhausted => "replies were cut by the output limit again and again",
        StopCause::StructuredOutputRetries => "the answer never fitted its schema",
        StopCause::HookStopped => "a hook ended it",
        StopCause::ProviderFailed => "the model's provider failed",
        StopCause::ResumeUnsafe => "it is not safe to continue without an answer",
        StopCause::AskedHuman => "a person was asked",
    }
}

/// Where a rule that was given for a command holds, behind the sentence that tells of it.
pub(crate) fn within(folder: &str) -> String {
    match folder {
        "" => String::new(),
        folder => format!(" for the folder {}", present::visible(folder)),
    }
}

/// The same, with the numbers of the limit that was reached.
pub(crate) fn why_with(cause: StopCause, limit: Option<&str>) -> String {
    match limit {
        Some(limit) => format!("{} ({limit})", why(cause)),
        None => why(cause).to_owned(),
    }
}

/// What a question asks, and all of what it is about.
pub(crate) fn question(about: &About, now: &Conversation) -> String {
    let mut lines = vec![present::text(about, now)];
    lines.extend(present::details(about, now, None));
    lines.join("\n")
}

/// How a question is answered.
pub(crate) fn how_to_answer(question: &Question, lane: &LaneId) -> String {
    let word = shell_word(lane);
    let (id, choices) = (question.id, question.about.choices());
    match question.about {
        About::Approval { .. } => {
            format!("`windlass approve {word} {id}`, or `windlass answer {word} {id} deny`")
        }
        _ => format!("`windlass answer {word} {id} ANSWER`: {choices}"),
    }
}

/// A call as a person knows it: the tool and its arguments.
pub(crate) fn call_named(id: CallId, now: &Conversation) -> String {
    let round = now.run.as_ref().and_then(Run::round);
    match round.and_then(|round| round.call(id)) {
        Some(call) => tool_use(&call.tool_use.name, &call.tool_use.input),
        None => format!("call {id}"),
    }
}

/// A tool with its arguments, on one line.
pub(crate) fn tool_use(name: &str, input: &Raw) -> String {
    // What is spelled in escapes is shown as what it means.
    let decoded = input.read::<serde_json::Value>().ok().filter(|_| input.text().contains("\\u"));
    let input = decoded.map_or_else(|| input.text().to_owned(), |value| value.to_string());
    let whole: Vec<String> = [name, &input].iter().map(|text| present::visible(text)).collect();
    cut(&whole.join(" ").replace('\n', "\\n"), INPUT_CHARS)
}

/// The text of blocks; what is no text is named.
pub(crate) fn blocks(blocks: &[Block]) -> String {
    let piece = |block: &Block| match block.kind() {
        Kind::Text(text) => text.to_string(),
        Kind::ToolUse(call) => tool_use(&call.name, &call.input),
        Kind::ToolResult { .. } => block.raw().text().to_owned(),
        Kind::Other(kind) => format!("[{kind}]"),
    };
    blocks.iter().map(piece).collect::<Vec<_>>().join("\n")
}

/// What a call brought, as text.
pub(crate) fn result(shown: &Shown) -> String {
    if let Ok(text) = shown.content.read::<String>() {
        return text;
    }
    match shown.content.read::<Vec<Block>>() {
        Ok(found) => blocks(&found),
        Err(_) => shown.content.text().to_owned(),
    }
}

/// The sentence of a result that tells of an error; the whole text of any other.
pub(crate) fn reason(shown: &Shown) -> String {
    let text = result(shown);
    let object = serde_json::from_str::<serde_json::Value>(&text).ok();
    let message = object.as_ref().and_then(|object| object.get("message"));
    message.and_then(serde_json::Value::as_str).map_or(text.clone(), str::to_owned)
}

/// An answer of a human.
pub(crate) fn answer(answer: &Answer) -> String {
    match answer {
        Answer::Allow { rule: None, .. } => "allow".to_owned(),
        Answer::Allow { rule: Some(rule), .. } => format!("allow, and keep the rule {rule}"),
        Answer::Deny { reason } => format!("deny: {reason}"),
        Answer::Retry {} => "it did not happen; run it again".to_owned(),
        Answer::MarkDone { text } => format!("it happened: {text}"),
        Answer::Abandon {} => "leave it".to_owned(),
        Answer::Continue {} => "go on".to_owned(),
        Answer::Text { text } => text.to_string(),
    }
}

/// A rung of the ladder.
pub(crate) fn rung(rung: Rung) -> &'static str {
    match rung {
        Rung::Compact => "R1, standard compaction",
        Rung::DeepPrune => "R2, deep prune",
        Rung::AskHuman => "R3, ask a human",
    }
}

/// The plain name that a value is stored under.
pub(crate) fn stored_name(value: &impl serde::Serialize) -> Arc<str> {
    Arc::from(Raw::encode(value).text().trim_matches('"'))
}

/// The kind of an input or a record, as its tag in the log says it, without the version.
pub(crate) fn tag(value: &impl serde::Serialize) -> String {
    let text = Raw::encode(value);
    let tag = text.text().split('"').nth(1).unwrap_or_default();
    tag.split('/').next().unwrap_or_default().to_owned()
}
