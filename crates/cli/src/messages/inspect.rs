//! Messages shared by inspect commands.

use std::path::Path;
use std::sync::Arc;

use windlass::StopCause;
use windlass::core::call::outcome::CallResult;
use windlass::core::context::RecoveryStep;
use windlass::core::log::ids::{CallId, LaneId};
use windlass::core::log::inbox::HumanAnswer;
use windlass::core::message::content_block::{BlockKind, ContentBlock};
use windlass::core::message::raw_json::RawJson;
use windlass::core::run::active_run::Run;
use windlass::core::run::conversation::Conversation;
use windlass::core::run::question::{Question, QuestionKind};
use windlass::core::stop::RunState;

use crate::messages::{self, option_word, shell_word};
use crate::terminal::{self, truncate};

/// Maximum number of ids named in an ambiguity error.
const MAX_NAMES: usize = 4;

/// Maximum characters of a call's arguments.
const MAX_INPUT_CHARS: usize = 500;

/// Error: the id is empty.
pub(crate) const EMPTY_ID: &str = "the id is empty; give that of a run or a conversation, or none for the newest run of this folder";

/// Error: the store has no runs.
pub(crate) fn no_runs_for_id(id: &str) -> String {
    format!("there is no `{id}`: no runs yet; start one with `windlass -p \"…\"`")
}

/// Error: no run or conversation has this id.
pub(crate) fn unknown_id(id: &str) -> String {
    format!("no run or conversation has the id `{id}`; list them with `windlass runs`")
}

/// Error: no run used this folder.
pub(crate) fn no_run_in_folder(folder: &Path) -> String {
    format!(
        "no run in {} yet; give an id (`windlass runs` lists them), or start one with \
         `windlass -p \"…\"`",
        folder.display()
    )
}

/// Error: several ids match.
pub(crate) fn ambiguous_id(id: &str, names: &[&str]) -> String {
    let shown: Vec<&str> = names.iter().take(MAX_NAMES).copied().collect();
    let more = if names.len() > MAX_NAMES { ", …" } else { "" };
    format!("`{id}` is not unique, it fits {}{more}; give more of it", shown.join(" and "))
}

/// The command that continues the conversation.
pub(crate) fn continue_command(lane: &LaneId) -> String {
    format!("windlass -p \"…\" {}", option_word("--conversation", lane))
}

/// The state of a run, as people say it.
pub(crate) fn state_phrase(state: RunState) -> &'static str {
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

/// The stop cause of a run, in a sentence.
pub(crate) fn stop_phrase(cause: StopCause) -> &'static str {
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

/// The folder in which a rule for a command applies, as a suffix of a sentence.
pub(crate) fn within(folder: &str) -> String {
    match folder {
        "" => String::new(),
        folder => format!(" for the folder {}", terminal::escape_invisible(folder)),
    }
}

/// The stop cause in a sentence, with the numbers of the limit that was reached.
pub(crate) fn why_with(cause: StopCause, limit: Option<&str>) -> String {
    match limit {
        Some(limit) => format!("{} ({limit})", stop_phrase(cause)),
        None => stop_phrase(cause).to_owned(),
    }
}

/// A question with all details of what it is about.
pub(crate) fn question_with_details(about: &QuestionKind, now: &Conversation) -> String {
    let mut lines = vec![messages::question_text(about, now)];
    lines.extend(messages::question_details(about, now, None));
    lines.join("\n")
}

/// How a question is answered.
pub(crate) fn how_to_answer(question: &Question, lane: &LaneId) -> String {
    let word = shell_word(lane);
    let (id, choices) = (question.id, messages::accepted_answers(&question.kind));
    match question.kind {
        QuestionKind::Approval { .. } => {
            format!("`windlass approve {word} {id}`, or `windlass answer {word} {id} deny`")
        }
        _ => format!("`windlass answer {word} {id} ANSWER`: {choices}"),
    }
}

/// A call as people read it: the tool and its arguments.
pub(crate) fn call_text(id: CallId, now: &Conversation) -> String {
    let round = now.run.as_ref().and_then(Run::round);
    match round.and_then(|round| round.call(id)) {
        Some(call) => format_tool_use(&call.tool_use.name, &call.tool_use.input),
        None => format!("call {id}"),
    }
}

/// A tool with its arguments, on one line.
pub(crate) fn format_tool_use(name: &str, input: &RawJson) -> String {
    // Escape sequences are decoded before they are shown.
    let decoded = input.read::<serde_json::Value>().ok().filter(|_| input.text().contains("\\u"));
    let input = decoded.map_or_else(|| input.text().to_owned(), |value| value.to_string());
    let whole: Vec<String> =
        [name, &input].iter().map(|text| terminal::escape_invisible(text)).collect();
    truncate(&whole.join(" ").replace('\n', "\\n"), MAX_INPUT_CHARS)
}

/// The text of content blocks; blocks that are not text are named.
pub(crate) fn blocks_text(blocks: &[ContentBlock]) -> String {
    let piece = |block: &ContentBlock| match block.kind() {
        BlockKind::Text(text) => text.to_string(),
        BlockKind::ToolUse(call) => format_tool_use(&call.name, &call.input),
        BlockKind::ToolResult { .. } => block.raw().text().to_owned(),
        BlockKind::Other(kind) => format!("[{kind}]"),
    };
    blocks.iter().map(piece).collect::<Vec<_>>().join("\n")
}

/// The result of a call, as text.
pub(crate) fn result_text(shown: &CallResult) -> String {
    if let Ok(text) = shown.content.read::<String>() {
        return text;
    }
    match shown.content.read::<Vec<ContentBlock>>() {
        Ok(found) => blocks_text(&found),
        Err(_) => shown.content.text().to_owned(),
    }
}

/// The message of an error result; the whole text of any other result.
pub(crate) fn error_message(shown: &CallResult) -> String {
    let text = result_text(shown);
    let object = serde_json::from_str::<serde_json::Value>(&text).ok();
    let message = object.as_ref().and_then(|object| object.get("message"));
    message.and_then(serde_json::Value::as_str).map_or(text.clone(), str::to_owned)
}

/// The answer of a human, in words.
pub(crate) fn answer_phrase(answer: &HumanAnswer) -> String {
    match answer {
        HumanAnswer::Allow { rule: None, .. } => "allow".to_owned(),
        HumanAnswer::Allow { rule: Some(rule), .. } => format!("allow, and keep the rule {rule}"),
        HumanAnswer::Deny { reason } => format!("deny: {reason}"),
        HumanAnswer::Retry {} => "it did not happen; run it again".to_owned(),
        HumanAnswer::MarkDone { text } => format!("it happened: {text}"),
        HumanAnswer::Abandon {} => "leave it".to_owned(),
        HumanAnswer::Continue {} => "go on".to_owned(),
        HumanAnswer::Text { text } => text.to_string(),
    }
}

/// The name of a recovery step.
pub(crate) fn recovery_step_name(rung: RecoveryStep) -> &'static str {
    match rung {
        RecoveryStep::Compact => "R1, standard compaction",
        RecoveryStep::DeepPrune => "R2, deep prune",
        RecoveryStep::AskHuman => "R3, ask a human",
    }
}

/// The name under which a value is stored.
pub(crate) fn stored_name(value: &impl serde::Serialize) -> Arc<str> {
    Arc::from(RawJson::encode(value).text().trim_matches('"'))
}

/// The tag of an input or a record in the log, without the version.
pub(crate) fn record_tag(value: &impl serde::Serialize) -> String {
    let text = RawJson::encode(value);
    let tag = text.text().split('"').nth(1).unwrap_or_default();
    tag.split('/').next().unwrap_or_default().to_owned()
}
