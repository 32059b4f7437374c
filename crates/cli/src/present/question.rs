//! A question to a person: one sentence, what it is about, and the answers it takes.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use windlass::core::block::ToolUse;
use windlass::core::conversation::Conversation;
use windlass::core::ids::{CallId, Millis, QuestionId};
use windlass::core::question::{About, Question};
use windlass::core::run::Run;

use super::call::{body, title};
use super::choices::asked_questions;
use super::escape::visible;
use crate::look::words::why;

/// A question for programs. `about` and `id` are as the log has them.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct QuestionView {
    id: QuestionId,
    about: About,
    /// What is asked, in a sentence.
    text: String,
    /// The answers that `windlass answer` takes.
    choices: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_use_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Value>,
    /// The folder a command would start in, if it is not the workspace's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at_ms: Option<Millis>,
}

impl QuestionView {
    pub(crate) fn new(question: &Question, now: &Conversation) -> Self {
        let call = question.about.call().and_then(|call| find(call, now));
        Self {
            id: question.id,
            about: question.about.clone(),
            text: text(&question.about, now),
            choices: choices(&question.about),
            tool: call.map(|call| call.name.to_string()),
            tool_use_id: call.map(|call| call.id.to_string()),
            input: call.map(|call| call.input.read().unwrap_or_default()),
            folder: command_folder(&question.about, now).map(str::to_owned),
            expires_at_ms: question.expires_at,
        }
    }
}

/// The answers a question takes, as they are typed.
fn choices(about: &About) -> Vec<&'static str> {
    match about {
        About::Approval { .. } => vec!["allow", "deny"],
        About::Uncertain { .. } => vec!["retry", "mark-done", "abandon"],
        About::Asking { .. } => vec!["text", "deny"],
        About::Plan { .. } => vec!["allow", "continue", "deny"],
        About::Guidance { .. } => vec!["text", "continue", "abandon"],
        About::Budget { .. } | About::Drift { .. } => vec!["continue", "abandon"],
    }
}

/// What is asked, in a sentence.
pub(crate) fn text(about: &About, now: &Conversation) -> String {
    let named = |call: &CallId| find(*call, now);
    let tool = |call: &CallId| {
        named(call).map_or_else(|| format!("call {call}"), |call| visible(&call.name))
    };
    match about {
        About::Approval { call } => {
            named(call).map_or_else(|| format!("Allow call {call}?"), title)
        }
        About::Uncertain { call } => {
            format!("{} was running when its process ended; did it happen?", tool(call))
        }
        About::Asking { call } => match named(call).map(|call| asked_questions(&call.input)) {
            Some(asked) if asked.len() == 1 => {
                asked.iter().map(|asked| visible(&asked.question)).collect()
            }
            Some(asked) if !asked.is_empty() => {
                format!("The model asks {} questions.", asked.len())
            }
            _ => format!("{} asks you.", tool(call)),
        },
        About::Plan { .. } => "The plan is ready. Begin the work?".to_owned(),
        About::Guidance { question, .. } => visible(question),
        About::Budget { cap } => format!("{}. Double the budget?", sentence(why(*cap))),
        About::Drift { what } => format!("{}; go on?", visible(what)),
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    first + chars.as_str()
}

/// What it is about, in lines: the whole call, or the choices that are offered.
pub(crate) fn details(about: &About, now: &Conversation, folder: Option<&Path>) -> Vec<String> {
    let Some(call) = about.call().and_then(|call| find(call, now)) else { return Vec::new() };
    let starts_in = command_folder(about, now).map(folder_line);
    match about {
        About::Asking { .. } => {
            let asked = asked_questions(&call.input);
            match asked.as_slice() {
                [] => body(call, folder),
                [only] => only.option_lines(),
                several => several.iter().flat_map(|asked| asked.lines()).collect(),
            }
        }
        About::Plan { plan, .. } => {
            plan.lines().map(|line| format!("  {}", visible(line))).collect()
        }
        _ => body(call, folder).into_iter().chain(starts_in).collect(),
    }
}

/// The folder that the command in question starts in, if it is not the workspace's own.
pub(crate) fn command_folder<'c>(about: &About, now: &'c Conversation) -> Option<&'c str> {
    let round = now.run.as_ref().and_then(Run::round)?;
    let call = about.call().and_then(|call| round.call(call))?;
    Some(&**call.facts.subject.folder()).filter(|folder| !folder.is_empty())
}

fn folder_line(folder: &str) -> String {
    format!("  folder: {}", visible(folder).replace('\n', "\\n"))
}

fn find(id: CallId, now: &Conversation) -> Option<&ToolUse> {
    let round = now.run.as_ref().and_then(Run::round)?;
    round.call(id).map(|call| &call.tool_use)
}
