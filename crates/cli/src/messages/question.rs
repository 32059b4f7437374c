//! A question to a person: one sentence, its details, and the answers it accepts.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use windlass::core::log::ids::{CallId, LaneId, QuestionId, UnixMillis};
use windlass::core::log::inbox::{
    AfterDenial, AnswerChannel, AnswerKind, AnswerSource, HumanAnswer,
};
use windlass::core::message::content_block::ToolUse;
use windlass::core::permission::{AddedAccess, PermissionRule, PermissionUpdate, RuleBehavior};
use windlass::core::run::active_run::Run;
use windlass::core::run::conversation::Conversation;
use windlass::core::run::question::{Question, QuestionKind};

use super::{accepted_answers, answer_words, shell_word, stop_reason, stored_name};
use crate::messages::call::{approval_title, call_details};
use crate::messages::model_question::parse_model_questions;
use crate::messages::tool_request::{request_lines, request_title};
use crate::terminal::{escape_invisible, to_one_line};

/// A question for programs. `about` and `id` are as in the log.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct QuestionView {
    id: QuestionId,
    /// The conversation that takes the answer, if it is that of a sub-agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<LaneId>,
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
    /// Why approval is required, if a hook, the sandbox or untrusted content requires it.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at_ms: Option<UnixMillis>,
}

impl QuestionView {
    pub(crate) fn new(question: &Question, now: &Conversation) -> Self {
        let call = question.kind.call().and_then(|call| find_tool_use(call, now));
        let asked = question.kind.call().and_then(|call| now.call(call)?.ask_reason.as_ref());
        Self {
            id: question.id,
            conversation: None,
            about: question.kind.clone(),
            text: question_text(&question.kind, now),
            choices: answer_words(question.kind.accepted_answers()),
            tool: call.map(|call| call.name.to_string()),
            tool_use_id: call.map(|call| call.id.to_string()),
            input: call.map(|call| call.input.read().unwrap_or_default()),
            folder: command_folder(&question.kind, now).map(str::to_owned),
            reason: asked.and_then(|asked| asked.reason.as_deref()).map(str::to_owned),
            expires_at_ms: question.expires_at,
        }
    }

    /// Names the conversation of the sub-agent that asks.
    pub(crate) fn of_conversation(self, lane: LaneId) -> Self {
        Self { conversation: Some(lane), ..self }
    }
}

/// The question, in a sentence.
pub(crate) fn question_text(kind: &QuestionKind, now: &Conversation) -> String {
    let named = |call: &CallId| find_tool_use(*call, now);
    let tool = |call: &CallId| {
        named(call).map_or_else(|| format!("call {call}"), |call| escape_invisible(&call.name))
    };
    match kind {
        QuestionKind::Approval { call } if added_access(*call, now).is_some() => {
            let parts = added_access(*call, now).into_iter().flat_map(AddedAccess::descriptions);
            let parts = escape_invisible(&parts.collect::<Vec<_>>().join(" and "));
            format!("The sandbox kept {} from {parts}. Run it again with that?", tool(call))
        }
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
        QuestionKind::ToolRequest { request, .. } => request_title(request),
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
    let why = kind.call().and_then(|call| ask_reason_line(call, now));
    match kind {
        QuestionKind::ModelQuestion { .. } => {
            let questions = parse_model_questions(&call.input);
            match questions.as_slice() {
                [] => call_details(call, folder),
                [only] => only.option_lines(),
                several => several.iter().flat_map(|question| question.question_lines()).collect(),
            }
        }
        QuestionKind::ToolRequest { request, .. } => {
            let about = call_details(call, folder);
            request_lines(request).into_iter().chain(about).collect()
        }
        QuestionKind::Plan { plan, .. } => {
            plan.lines().map(|line| format!("  {}", escape_invisible(line))).collect()
        }
        _ => call_details(call, folder).into_iter().chain(starts_in).chain(why).collect(),
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

/// The line that says why approval is required, if that is not the rules.
fn ask_reason_line(call: CallId, now: &Conversation) -> Option<String> {
    let asked = now.call(call)?.ask_reason.as_ref()?;
    let who = if asked.is_hook() { "a hook asks" } else { "why" };
    Some(format!("  {who}: {}", escape_invisible(asked.reason.as_ref()?).replace('\n', "\\n")))
}

/// What a command would get beyond the policy of the sandbox.
fn added_access(call: CallId, now: &Conversation) -> Option<&AddedAccess> {
    now.call(call)?.facts.subject.added_access()
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

/// What follows from an answer to a question, in a few words.
pub(crate) fn answer_consequence(about: &QuestionKind, answer: AnswerKind) -> &'static str {
    match (answer, about) {
        (AnswerKind::Allow, QuestionKind::Plan { .. }) => {
            "the agent leaves plan mode and starts; changes need approval"
        }
        (AnswerKind::Allow, _) => "the call runs once; similar calls need approval again",
        (AnswerKind::Deny, QuestionKind::Plan { .. }) => {
            "the agent stays in plan mode and reads the text"
        }
        (AnswerKind::Deny, QuestionKind::ToolRequest { .. }) => {
            "the tool learns that you decline, and goes on"
        }
        (AnswerKind::Deny, _) => "the call does not run; the model reads the text",
        (AnswerKind::Retry, _) => "the call runs again",
        (AnswerKind::MarkDone, _) => "the call counts as done and does not run again",
        (AnswerKind::Abandon, QuestionKind::Uncertain { .. }) => {
            "the call counts as abandoned and does not run"
        }
        (AnswerKind::Abandon, _) => "the run ends",
        (AnswerKind::Continue, QuestionKind::Plan { .. }) => {
            "the agent leaves plan mode and starts; edits in the folder need no approval"
        }
        (AnswerKind::Continue, QuestionKind::Budget { .. }) => {
            "the run continues, and as much again may be spent"
        }
        (AnswerKind::Continue, QuestionKind::ToolRequest { .. }) => {
            "the tool goes on with the default values, or with what you did on its page"
        }
        (AnswerKind::Continue, _) => "the run continues",
        (AnswerKind::Text, QuestionKind::ToolRequest { .. }) => {
            "the tool goes on with these values: `name=value`, separated by `;`, or JSON"
        }
        (AnswerKind::Text, _) => "the run continues, and the model reads the text",
    }
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

/// Maximum characters of changed arguments that are quoted.
const MAX_INPUT_CHARS: usize = 300;

/// A change of the permissions, as a clause.
pub(crate) fn permission_update(update: &PermissionUpdate) -> String {
    let list = |rules: &[PermissionRule]| {
        let texts: Vec<&str> = rules.iter().map(|rule| &**rule.text()).collect();
        texts.join(", ")
    };
    match update {
        PermissionUpdate::AddRules { behavior, rules } => {
            format!("{} {}", behavior_verb(*behavior), list(rules))
        }
        PermissionUpdate::ReplaceRules { behavior, rules } => {
            format!("{} only {}", behavior_verb(*behavior), list(rules))
        }
        PermissionUpdate::RemoveRules { behavior, rules } => {
            format!("no longer {} {}", behavior_verb(*behavior), list(rules))
        }
        PermissionUpdate::SetMode { mode } => {
            format!("use the permission mode {}", stored_name(mode))
        }
        PermissionUpdate::AddFolders { folders } => format!("add {}", folders.join(", ")),
        PermissionUpdate::RemoveFolders { folders } => format!("remove {}", folders.join(", ")),
    }
}

fn behavior_verb(behavior: RuleBehavior) -> &'static str {
    match behavior {
        RuleBehavior::Allow => "allow",
        RuleBehavior::Deny => "deny",
        RuleBehavior::Ask => "ask about",
    }
}

/// Who answered, as the end of a sentence; nothing if that is not known.
pub(crate) fn answer_source(source: Option<&AnswerSource>) -> String {
    let Some(source) = source else { return String::new() };
    let channel = match source.channel {
        AnswerChannel::Terminal => "at the terminal",
        AnswerChannel::Command => "with a command",
        AnswerChannel::Callback => "by a callback of the program",
        AnswerChannel::Sdk => "by the program that uses the SDK",
        AnswerChannel::Api => "through the API",
        AnswerChannel::Editor => "in the editor",
        AnswerChannel::Hook => "by a hook",
    };
    match &source.detail {
        Some(detail) => format!(" ({channel}, {})", escape_invisible(detail)),
        None => format!(" ({channel})"),
    }
}

/// The answer of a human, in words.
pub(crate) fn answer_phrase(answer: &HumanAnswer) -> String {
    match answer {
        HumanAnswer::Allow { rule, changed_input, updates, .. } => {
            let rule = rule.iter().map(|rule| format!("save the rule {rule}"));
            let updates = updates.iter().map(permission_update);
            let input = changed_input.iter().map(|changed| {
                format!("run it with {}", to_one_line(changed.input.text(), MAX_INPUT_CHARS))
            });
            let parts = rule.chain(updates).chain(input).map(|part| format!(", and {part}"));
            parts.fold("allow".to_owned(), |text, part| text + &part)
        }
        HumanAnswer::Deny { reason, then: AfterDenial::Continue } => format!("deny: {reason}"),
        HumanAnswer::Deny { reason, then: AfterDenial::Interrupt } => {
            format!("deny and stop the run: {reason}")
        }
        HumanAnswer::Retry {} => "retry (it did not take effect)".to_owned(),
        HumanAnswer::MarkDone { text } => format!("mark as done: {text}"),
        HumanAnswer::Abandon {} => "abandon".to_owned(),
        HumanAnswer::Continue {} => "continue".to_owned(),
        HumanAnswer::Text { text } => text.to_string(),
    }
}
