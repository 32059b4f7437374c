//! A question to a person: one sentence, its details, and the answers it accepts.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use windlass::core::log::ids::{CallId, LaneId, QuestionId, UnixMillis};
use windlass::core::log::inbox::HumanAnswer;
use windlass::core::message::content_block::ToolUse;
use windlass::core::run::active_run::Run;
use windlass::core::run::conversation::Conversation;
use windlass::core::run::question::{Question, QuestionKind};

use super::{accepted_answers, answer_words, shell_word, stop_reason};
use crate::messages::call::{approval_title, call_details};
use crate::messages::model_question::parse_model_questions;
use crate::terminal::escape_invisible;

/// A question for programs. `about` and `id` are as in the log.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct QuestionView {
    id: QuestionId,
    about: QuestionKind,
    /// The question, in a sentence.
    text: String,
    /// The answers that `windlass answer` accepts.
    choices: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_use_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Value>,
    /// The folder in which a command would start, if it is not the workspace itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at_ms: Option<UnixMillis>,
}

impl QuestionView {
    pub(crate) fn new(question: &Question, now: &Conversation) -> Self {
        let call = question.kind.call().and_then(|call| find_tool_use(call, now));
        Self {
            id: question.id,
            about: question.kind.clone(),
            text: question_text(&question.kind, now),
            choices: answer_words(question.kind.accepted_answers()),
            tool: call.map(|call| call.name.to_string()),
            tool_use_id: call.map(|call| call.id.to_string()),
            input: call.map(|call| call.input.read().unwrap_or_default()),
            folder: command_folder(&question.kind, now).map(str::to_owned),
            expires_at_ms: question.expires_at,
        }
    }
}

/// The question, in a sentence.
pub(crate) fn question_text(kind: &QuestionKind, now: &Conversation) -> String {
    let named = |call: &CallId| find_tool_use(*call, now);
    let tool = |call: &CallId| {
        named(call).map_or_else(|| format!("call {call}"), |call| escape_invisible(&call.name))
    };
    match kind {
        QuestionKind::Approval { call } => {
            named(call).map_or_else(|| format!("Allow call {call}?"), approval_title)
        }
        QuestionKind::Uncertain { call } => {
            format!("{} was running when its process ended. Did it take effect?", tool(call))
        }
        QuestionKind::ModelQuestion { call } => {
            match named(call).map(|call| parse_model_questions(&call.input)) {
                Some(asked) if asked.len() == 1 => {
                    asked.iter().map(|asked| escape_invisible(&asked.question)).collect()
                }
                Some(asked) if !asked.is_empty() => {
                    format!("The model asks {} questions.", asked.len())
                }
                _ => format!("{} asks a question.", tool(call)),
            }
        }
        QuestionKind::Plan { .. } => "The plan is ready. Start the work?".to_owned(),
        QuestionKind::Guidance { question, .. } => escape_invisible(question),
        QuestionKind::Budget { cap } => {
            format!("{}. Double the budget?", capitalize(stop_reason(*cap)))
        }
        QuestionKind::PromptChanged { changes } => {
            format!("{}. Continue?", escape_invisible(changes))
        }
    }
}

fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    first + chars.as_str()
}

/// The details of a question, in lines: the whole call, or the offered choices.
pub(crate) fn question_details(
    kind: &QuestionKind,
    now: &Conversation,
    folder: Option<&Path>,
) -> Vec<String> {
    let Some(call) = kind.call().and_then(|call| find_tool_use(call, now)) else {
        return Vec::new();
    };
    let starts_in = command_folder(kind, now).map(folder_line);
    match kind {
        QuestionKind::ModelQuestion { .. } => {
            let questions = parse_model_questions(&call.input);
            match questions.as_slice() {
                [] => call_details(call, folder),
                [only] => only.option_lines(),
                several => several.iter().flat_map(|question| question.question_lines()).collect(),
            }
        }
        QuestionKind::Plan { plan, .. } => {
            plan.lines().map(|line| format!("  {}", escape_invisible(line))).collect()
        }
        _ => call_details(call, folder).into_iter().chain(starts_in).collect(),
    }
}

/// The folder in which the command of a question starts, if it is not the workspace itself.
pub(crate) fn command_folder<'c>(kind: &QuestionKind, now: &'c Conversation) -> Option<&'c str> {
    let round = now.run.as_ref().and_then(Run::round)?;
    let call = kind.call().and_then(|call| round.call(call))?;
    Some(&**call.facts.subject.folder()).filter(|folder| !folder.is_empty())
}

fn folder_line(folder: &str) -> String {
    format!("  folder: {}", escape_invisible(folder).replace('\n', "\\n"))
}

fn find_tool_use(id: CallId, now: &Conversation) -> Option<&ToolUse> {
    let round = now.run.as_ref().and_then(Run::round)?;
    round.call(id).map(|call| &call.tool_use)
}

/// A question with all details of what it is about.
pub(crate) fn question_with_details(kind: &QuestionKind, now: &Conversation) -> String {
    let mut lines = vec![question_text(kind, now)];
    lines.extend(question_details(kind, now, None));
    lines.join("\n")
}

/// How a question is answered.
pub(crate) fn how_to_answer(question: &Question, lane: &LaneId) -> String {
    let word = shell_word(lane);
    let (id, choices) = (question.id, accepted_answers(&question.kind));
    match question.kind {
        QuestionKind::Approval { .. } => {
            format!("`windlass approve {word} {id}`, or `windlass answer {word} {id} deny`")
        }
        _ => format!("`windlass answer {word} {id} ANSWER`: {choices}"),
    }
}

/// The answer of a human, in words.
pub(crate) fn answer_phrase(answer: &HumanAnswer) -> String {
    match answer {
        HumanAnswer::Allow { rule: None, .. } => "allow".to_owned(),
        HumanAnswer::Allow { rule: Some(rule), .. } => format!("allow, and save the rule {rule}"),
        HumanAnswer::Deny { reason } => format!("deny: {reason}"),
        HumanAnswer::Retry {} => "retry (it did not take effect)".to_owned(),
        HumanAnswer::MarkDone { text } => format!("mark as done: {text}"),
        HumanAnswer::Abandon {} => "abandon".to_owned(),
        HumanAnswer::Continue {} => "continue".to_owned(),
        HumanAnswer::Text { text } => text.to_string(),
    }
}
