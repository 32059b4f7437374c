//! Parses a hook's response from exit code and output.
//!
//! Exit code 0 allows, and JSON on standard output may say more. Exit code 2 denies, with the
//! reason on standard error. Every other exit is an error of the hook.

use std::sync::Arc;

use serde_json::{Map, Value};
use windlass_core::call::call_facts::CallFacts;
use windlass_core::log::input::HookDecision;
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::HookPreference;
use windlass_core::run::review::ReviewResult;
use windlass_runtime::ports::HookResponse;

use super::command_runner::{CapturedStream, HookExit, HookProcessEnd};
use super::config::HookEvent;

/// Maximum number of characters of a reason or a context.
const MAX_CHARS: usize = 10_000;

/// The parsed response of a hook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CommandHookOutput {
    decision: Option<CommandHookDecision>,
    stop: Option<Arc<str>>,
    replacement: Option<RawJson>,
    context: Option<Arc<str>>,
    /// A message for the user.
    user_message: Option<Arc<str>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum CommandHookDecision {
    Allow,
    Ask,
    Deny(Arc<str>),
}

impl CommandHookOutput {
    pub(super) fn deny(reason: &str) -> Self {
        Self { decision: Some(CommandHookDecision::Deny(truncate_text(reason))), ..Self::default() }
    }

    /// Parses the response of a command that was given `input`. `Err` says why it counts as failed.
    pub(super) fn from_end(
        event: HookEvent,
        command: &str,
        input: &Value,
        ended: std::io::Result<HookProcessEnd>,
    ) -> Result<Self, String> {
        let name = short_command(command);
        let ended = ended.map_err(|error| format!("`{name}` did not start: {error}"))?;
        match ended.exit {
            HookExit::TimedOut { after_ms } => {
                Err(format!("`{name}` was stopped because it took longer than {after_ms} ms"))
            }
            HookExit::Killed => Err(format!("`{name}` was killed")),
            HookExit::Exited(0) => parse_stdout(event, input, &ended.stdout)
                .map_err(|reason| format!("`{name}` {reason}")),
            HookExit::Exited(2) => Ok(Self::deny(&denial_reason(&ended, &name))),
            HookExit::Exited(code) => {
                let reason = ended.stderr.text.trim();
                Err(format!("`{name}` failed with exit code {code}: {}", truncate_text(reason)))
            }
        }
    }

    /// Takes out the messages for the user: the hook's own message, and its objection to an event
    /// that cannot be blocked.
    pub(super) fn take_user_messages(&mut self, event: HookEvent) -> Vec<Arc<str>> {
        let mut messages: Vec<Arc<str>> = self.user_message.take().into_iter().collect();
        if !event.can_block()
            && let Some(CommandHookDecision::Deny(reason)) = self.decision.take()
        {
            messages.push(reason);
        }
        messages
    }

    /// Parses the result of a completion gate: only success is accepted.
    pub(super) fn from_gate_end(command: &str, ended: std::io::Result<HookProcessEnd>) -> Self {
        let name = short_command(command);
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => return Self::deny(&format!("`{name}` did not start: {error}")),
        };
        let printed = format!("{}\n{}", ended.stdout.text.trim(), ended.stderr.text.trim());
        match ended.exit {
            HookExit::Exited(0) => Self::default(),
            HookExit::Exited(code) => Self::deny(&format!(
                "the completion gate `{name}` failed with exit code {code}:\n{printed}"
            )),
            HookExit::TimedOut { after_ms } => {
                Self::deny(&format!("the completion gate `{name}` took longer than {after_ms} ms"))
            }
            HookExit::Killed => Self::deny(&format!("the completion gate `{name}` was killed")),
        }
    }

    /// Converts to a response about a call that is about to run.
    pub(super) fn into_pre_tool_response(self) -> HookResponse {
        let decision = match (self.stop, self.decision, self.replacement) {
            (Some(reason), _, _) | (_, Some(CommandHookDecision::Deny(reason)), _) => {
                HookDecision::Deny { reason }
            }
            (_, verdict, Some(input)) => {
                let preference = match verdict {
                    Some(CommandHookDecision::Allow) => HookPreference::Allow,
                    Some(CommandHookDecision::Ask) => HookPreference::Ask,
                    Some(CommandHookDecision::Deny(_)) | None => HookPreference::Neutral,
                };
                HookDecision::Change { input, facts: Box::new(CallFacts::default()), preference }
            }
            (_, Some(CommandHookDecision::Allow), None) => HookDecision::Allow {},
            (_, Some(CommandHookDecision::Ask), None) => HookDecision::Ask {},
            (_, None, None) => HookDecision::Pass {},
        };
        HookResponse { decision, context: self.context }
    }

    /// Converts to a response about a call that has returned. It has run: an objection goes to the
    /// model beside the result.
    pub(super) fn into_post_tool_response(self, subject: &str) -> HookResponse {
        let against = match (self.stop, self.decision) {
            (Some(reason), _) | (None, Some(CommandHookDecision::Deny(reason))) => {
                Some(format!("{subject} hook blocking error: {reason}"))
            }
            (None, Some(CommandHookDecision::Allow | CommandHookDecision::Ask) | None) => None,
        };
        let context = match (against, self.context) {
            (Some(against), Some(context)) => Some(Arc::from(format!("{against}\n{context}"))),
            (Some(against), None) => Some(Arc::from(against)),
            (None, context) => context,
        };
        let decision = match self.replacement {
            Some(input) => {
                let (facts, preference) = (Box::new(CallFacts::default()), HookPreference::Neutral);
                HookDecision::Change { input, facts, preference }
            }
            None => HookDecision::Pass {},
        };
        HookResponse { decision, context }
    }

    /// Converts to a review result.
    pub(super) fn into_review_result(self) -> ReviewResult {
        match (self.stop, self.decision) {
            (Some(reason), _) => ReviewResult::Stop { reason },
            (None, Some(CommandHookDecision::Deny(reason))) => ReviewResult::Block { reason },
            (None, Some(CommandHookDecision::Allow | CommandHookDecision::Ask) | None) => {
                ReviewResult::Pass { context: self.context }
            }
        }
    }
}

/// Parses the standard output of a hook that exited with 0. Text that is not a JSON object is
/// ignored, except where it is context for the model.
fn parse_stdout(
    event: HookEvent,
    input: &Value,
    stdout: &CapturedStream,
) -> Result<CommandHookOutput, String> {
    let text = stdout.text.trim();
    if !text.starts_with('{') {
        return Ok(CommandHookOutput {
            context: plain_text_context(event, text),
            ..CommandHookOutput::default()
        });
    }
    if stdout.is_truncated {
        return Err("printed too much JSON".to_owned());
    }
    let value: Value = serde_json::from_str(text)
        .map_err(|error| format!("printed JSON that is not valid ({error})"))?;
    // Text that a model wrote must not count as a decision of the hook.
    if is_echo(input, &value, text) {
        return Ok(CommandHookOutput::default());
    }
    parse_output(event, &value)
}

/// Returns whether a hook echoes its input, or a part of it.
fn is_echo(input: &Value, value: &Value, text: &str) -> bool {
    let inside = match input {
        Value::String(given) => {
            let given = given.trim();
            return given == text
                || (given.starts_with('{')
                    && serde_json::from_str::<Value>(given).is_ok_and(|given| given == *value));
        }
        Value::Array(items) => items.iter().any(|item| is_echo(item, value, text)),
        Value::Object(fields) => fields.values().any(|field| is_echo(field, value, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    };
    inside || input == value
}

fn plain_text_context(event: HookEvent, text: &str) -> Option<Arc<str>> {
    let speaks = matches!(event, HookEvent::UserPromptSubmit | HookEvent::SessionStart);
    (speaks && !text.is_empty()).then(|| truncate_text(text))
}

/// Parses the object. A value that means nothing is an error: it may have been meant to block
/// something.
fn parse_output(event: HookEvent, value: &Value) -> Result<CommandHookOutput, String> {
    let nothing = Map::new();
    let specific = match value.get("hookSpecificOutput") {
        None | Some(Value::Null) => &nothing,
        Some(Value::Object(specific)) => specific,
        Some(_) => return Err("printed a `hookSpecificOutput` that is not an object".to_owned()),
    };
    if !specific.is_empty() {
        let about = specific.get("hookEventName").and_then(Value::as_str);
        if about != Some(event.name()) {
            let name = event.name();
            return Err(format!("printed `hookSpecificOutput` without `hookEventName`: `{name}`"));
        }
    }
    let whole = value.as_object().unwrap_or(&nothing);
    let reason = |of: &Map<String, Value>, name: &str| -> Result<Arc<str>, String> {
        let given = match text_field(of, name)? {
            Some(given) => Some(given),
            None => text_field(whole, "reason")?,
        };
        Ok(truncate_text(given.unwrap_or("blocked by a hook without a reason")))
    };
    let stop = match whole.get("continue") {
        None | Some(Value::Bool(true)) => None,
        Some(Value::Bool(false)) => Some(truncate_text(
            text_field(whole, "stopReason")?.unwrap_or("a hook stopped the run"),
        )),
        Some(other) => {
            return Err(unknown_value_error("continue", &other.to_string(), "true or false"));
        }
    };
    let old = match text_field(whole, "decision")? {
        None => None,
        Some("block" | "deny") => Some(CommandHookDecision::Deny(reason(whole, "reason")?)),
        Some("approve" | "allow") => Some(CommandHookDecision::Allow),
        Some("ask") => Some(CommandHookDecision::Ask),
        Some(other) => return Err(unknown_value_error("decision", other, "block or approve")),
    };
    let new = match text_field(specific, "permissionDecision")? {
        None => None,
        Some("deny") => {
            Some(CommandHookDecision::Deny(reason(specific, "permissionDecisionReason")?))
        }
        Some("allow") => Some(CommandHookDecision::Allow),
        Some("ask" | "defer") => Some(CommandHookDecision::Ask),
        Some(other) => {
            return Err(unknown_value_error("permissionDecision", other, "allow, deny or ask"));
        }
    };
    Ok(CommandHookOutput {
        decision: new.or(old),
        stop,
        replacement: parse_replacement(event, specific)?,
        context: text_field(specific, "additionalContext")?.map(truncate_text),
        user_message: text_field(whole, "systemMessage")?.map(truncate_text),
    })
}

/// Parses the arguments or the result that a hook replaces others with.
fn parse_replacement(
    event: HookEvent,
    specific: &Map<String, Value>,
) -> Result<Option<RawJson>, String> {
    match event {
        HookEvent::PreToolUse => match specific.get("updatedInput") {
            None | Some(Value::Null) => Ok(None),
            Some(input @ Value::Object(_)) => Ok(Some(RawJson::encode(input))),
            Some(_) => Err("printed an `updatedInput` that is not an object".to_owned()),
        },
        HookEvent::PostToolUse => {
            let names = ["updatedToolOutput", "updatedMCPToolOutput"];
            let output = names.iter().find_map(|name| specific.get(*name));
            Ok(output.filter(|output| !output.is_null()).map(RawJson::encode))
        }
        _ => Ok(None),
    }
}

fn text_field<'a>(of: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, String> {
    match of.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("printed a `{name}` that is not a string")),
    }
}

fn unknown_value_error(name: &str, value: &str, expected: &str) -> String {
    format!("printed the unknown `{name}` `{}`; use {expected}", short_command(value))
}

/// Returns the reason of a hook that denied by its exit code.
fn denial_reason(ended: &HookProcessEnd, name: &str) -> String {
    let text = ended.stderr.text.trim();
    if text.is_empty() {
        format!("blocked by the hook `{name}` without a reason")
    } else {
        text.to_owned()
    }
}

fn truncate_text(text: &str) -> Arc<str> {
    let cut: String = text.chars().take(MAX_CHARS).collect();
    Arc::from(cut)
}

/// Shortens a command for a message.
fn short_command(command: &str) -> String {
    crate::tool_definition::tool_input::one_line_summary(command).to_string()
}
