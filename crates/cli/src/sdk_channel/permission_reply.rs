//! The answer of the program to a permission request, and what it means for the run.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use windlass::HumanAnswer;
use windlass::core::message::raw_json::RawJson;
use windlass::core::run::question::QuestionKind;
use windlass::tools::PermissionHookDecision;

use super::permission_updates::read_updates;

#[cfg(test)]
#[path = "permission_reply_tests.rs"]
mod permission_reply_tests;

/// Maximum number of characters of a message to the model.
const MAX_MESSAGE_CHARS: usize = 10_000;

/// What the program decided about a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PermissionReply {
    /// The call runs.
    Allow {
        /// The input it runs with.
        input: Option<Value>,
        /// Changes of the permissions.
        permissions: Option<Value>,
    },
    /// The call does not run.
    Deny {
        /// Text for the model.
        message: String,
        /// Whether the run ends too.
        interrupt: bool,
    },
}

impl PermissionReply {
    /// Reads an answer. One that cannot be understood denies the call.
    pub(super) fn parse(reply: &Value) -> Self {
        match reply.get("behavior").and_then(Value::as_str) {
            Some("allow") => Self::Allow {
                input: reply.get("updatedInput").filter(|input| input.is_object()).cloned(),
                permissions: reply.get("updatedPermissions").cloned(),
            },
            Some("deny") => Self::Deny {
                message: message_of(reply),
                interrupt: reply.get("interrupt").and_then(Value::as_bool).unwrap_or(false),
            },
            Some(_) | None => Self::denied(
                "the permission callback returned neither allow nor deny, so the call was denied",
            ),
        }
    }

    pub(super) fn from_hook(decision: PermissionHookDecision) -> Self {
        match decision {
            PermissionHookDecision::Allow { input, permissions } => {
                Self::Allow { input, permissions }
            }
            PermissionHookDecision::Deny { reason, interrupt } => {
                Self::Deny { message: reason.to_string(), interrupt }
            }
        }
    }

    /// A denial with this text for the model.
    pub(super) fn denied(message: &str) -> Self {
        Self::Deny { message: message.to_owned(), interrupt: false }
    }

    /// Converts to the answer to a question about a call with this input, in this folder.
    pub(super) fn into_answer(
        self,
        kind: &QuestionKind,
        (input, workspace): (&Value, &Path),
    ) -> HumanAnswer {
        match (kind, self) {
            (QuestionKind::Uncertain { .. }, Self::Allow { input: given, .. })
                if given.as_ref().is_none_or(|given| given == input) =>
            {
                HumanAnswer::Retry {}
            }
            (QuestionKind::Uncertain { .. }, Self::Deny { .. }) => HumanAnswer::Abandon {},
            (QuestionKind::ModelQuestion { .. }, Self::Allow { input, .. }) => {
                HumanAnswer::Text { text: Arc::from(answers_text(input.as_ref())) }
            }
            (QuestionKind::Plan { .. }, Self::Allow { permissions, .. })
                if sets_accept_edits(permissions.as_ref()) =>
            {
                HumanAnswer::Continue {}
            }
            (_, Self::Allow { input: given, permissions }) => {
                let updates = read_updates(permissions.as_ref(), workspace);
                let answer = HumanAnswer::allow().with_permission_updates(updates);
                match given.filter(|given| given != input) {
                    Some(changed) => answer.with_changed_input(RawJson::encode(&changed)),
                    None => answer,
                }
            }
            (_, Self::Deny { message, interrupt: false }) => HumanAnswer::deny(message),
            (_, Self::Deny { message, interrupt: true }) => {
                HumanAnswer::deny_and_interrupt(message)
            }
        }
    }
}

fn message_of(reply: &Value) -> String {
    let message = reply.get("message").and_then(Value::as_str).unwrap_or_default();
    match message.trim() {
        "" => "the call was denied".to_owned(),
        _ => message.chars().take(MAX_MESSAGE_CHARS).collect(),
    }
}

/// The answers to the questions of the model, as text.
fn answers_text(input: Option<&Value>) -> String {
    let answers = input.and_then(|input| input.get("answers")).and_then(Value::as_object);
    let line = |(question, answer): (&String, &Value)| match answer {
        Value::String(answer) => format!("{question}: {answer}"),
        other => format!("{question}: {other}"),
    };
    let lines: Vec<String> = answers.into_iter().flatten().map(line).collect();
    match lines.is_empty() {
        true => "The user gave no answer.".to_owned(),
        false => lines.join("\n"),
    }
}

fn sets_accept_edits(permissions: Option<&Value>) -> bool {
    let updates = permissions.and_then(Value::as_array).into_iter().flatten();
    updates.into_iter().any(|update| {
        update.get("type").and_then(Value::as_str) == Some("setMode")
            && update.get("mode").and_then(Value::as_str) == Some("acceptEdits")
    })
}
