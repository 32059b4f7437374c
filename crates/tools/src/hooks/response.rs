//! Parses a hook's response from exit code and output. The JSON is that of the Agent SDKs, whose
//! callbacks return it too.
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

use super::callbacks::{HookCallbackError, PermissionHookDecision};
use super::command_runner::{CapturedStream, HookExit, HookProcessEnd};
use super::config::HookEvent;
use crate::tool_results::model_content;

/// Maximum number of characters of a reason or a context.
const MAX_CHARS: usize = 10_000;

/// The parsed output of a hook: what a command printed, or what a callback of an SDK returned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookOutput {
    decision: Option<OutputDecision>,
    stop: Option<Arc<str>>,
    replacement: Option<RawJson>,
    context: Option<Arc<str>>,
    /// A message for the user.
    user_message: Option<Arc<str>>,
    /// The decision about a permission request.
    permission: Option<PermissionHookDecision>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum OutputDecision {
    Allow,
    /// A person is asked, and reads the reason if there is one.
    Ask(Option<Arc<str>>),
    Deny(Arc<str>),
    Defer,
}

impl HookOutput {
    pub(super) fn deny(reason: &str) -> Self {
        Self { decision: Some(OutputDecision::Deny(truncate_text(reason))), ..Self::default() }
    }

    /// Parses the output of a hook for `event`.
    ///
    /// # Errors
    ///
    /// Returns why the output means nothing, as the end of a sentence that names the hook.
    pub fn parse(event: HookEvent, output: &Value) -> Result<Self, String> {
        parse_output(event, output)
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

    /// Parses what a web service answered to `input`. `Err` says why it counts as failed.
    pub(super) fn from_http(
        event: HookEvent,
        url: &str,
        input: &Value,
        answer: &CapturedStream,
    ) -> Result<Self, String> {
        parse_stdout(event, input, answer).map_err(|reason| format!("{url} {reason}"))
    }

    /// Parses the object that a callback returned. `Err` says why it counts as failed.
    pub(super) fn from_callback(
        event: HookEvent,
        returned: Result<Value, HookCallbackError>,
    ) -> Result<Self, String> {
        match (returned, event) {
            (Ok(Value::Null), _) => Ok(Self::default()),
            (Ok(value @ Value::Object(_)), _) => {
                parse_output(event, &value).map_err(|reason| format!("the callback {reason}"))
            }
            (Ok(_), _) => Err("the callback returned something that is not an object".to_owned()),
            // Nothing may run that its guard has not seen.
            (Err(error @ HookCallbackError::TimedOut { .. }), HookEvent::PreToolUse) => {
                Ok(Self::deny(&error.to_string()))
            }
            (Err(error), _) => Err(error.to_string()),
        }
    }

    /// Takes out the decision about a permission request.
    pub(super) fn take_permission_decision(&mut self) -> Option<PermissionHookDecision> {
        self.permission.take()
    }

    /// Takes out the messages for the user: the hook's own message, and its objection to an event
    /// that cannot be blocked.
    #[must_use]
    pub fn take_user_messages(&mut self, can_block: bool) -> Vec<Arc<str>> {
        let mut messages: Vec<Arc<str>> = self.user_message.take().into_iter().collect();
        if !can_block && let Some(OutputDecision::Deny(reason)) = self.decision.take() {
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
        match ended.exit {
            HookExit::Exited(0) => Self::default(),
            HookExit::Exited(code) => {
                let printed = [ended.stdout.text.trim(), ended.stderr.text.trim()];
                let printed = printed.iter().filter(|text| !text.is_empty());
                let before = format!("the completion gate `{name}` failed with exit code {code}");
                let told: Vec<&str> =
                    std::iter::once(before.as_str()).chain(printed.copied()).collect();
                Self::deny(&told.join("\n"))
            }
            HookExit::TimedOut { after_ms } => {
                Self::deny(&format!("the completion gate `{name}` took longer than {after_ms} ms"))
            }
            HookExit::Killed => Self::deny(&format!("the completion gate `{name}` was killed")),
        }
    }

    /// Converts to a response about a call that is about to run.
    #[must_use]
    pub fn into_pre_tool_response(self) -> HookResponse {
        let decision = match (self.decision, self.replacement) {
            (Some(OutputDecision::Deny(reason)), _) => HookDecision::Deny { reason },
            (Some(OutputDecision::Defer), _) => HookDecision::Defer {},
            (Some(OutputDecision::Allow), Some(input)) => {
                changed_call(input, HookPreference::Allow, None)
            }
            (Some(OutputDecision::Ask(reason)), Some(input)) => {
                changed_call(input, HookPreference::Ask, reason)
            }
            (None, Some(input)) => changed_call(input, HookPreference::Neutral, None),
            (Some(OutputDecision::Allow), None) => HookDecision::Allow {},
            (Some(OutputDecision::Ask(reason)), None) => HookDecision::Ask { reason },
            (None, None) => HookDecision::Pass {},
        };
        HookResponse { decision, context: self.context, stop: self.stop }
    }

    /// Turns a replaced result that has the shape of the SDKs into what the model reads.
    #[must_use]
    pub fn with_tool_content(mut self, tool: &str) -> Self {
        self.replacement = self.replacement.map(|output| model_content(tool, output));
        self
    }

    /// Converts to a response about a call that has returned. It has run: an objection goes to the
    /// model beside the result.
    #[must_use]
    pub fn into_post_tool_response(self, subject: &str) -> HookResponse {
        let against = match self.decision {
            Some(OutputDecision::Deny(reason)) => {
                Some(format!("{subject} hook blocking error: {reason}"))
            }
            Some(OutputDecision::Allow | OutputDecision::Ask(_) | OutputDecision::Defer) | None => {
                None
            }
        };
        let context = match (against, self.context) {
            (Some(against), Some(context)) => Some(Arc::from(format!("{against}\n{context}"))),
            (Some(against), None) => Some(Arc::from(against)),
            (None, context) => context,
        };
        let decision = match self.replacement {
            Some(output) => changed_call(output, HookPreference::Neutral, None),
            None => HookDecision::Pass {},
        };
        HookResponse { decision, context, stop: self.stop }
    }

    /// Converts to a review result where no one can be asked: a hook that wants that objects.
    #[must_use]
    pub fn into_unattended_review_result(mut self) -> ReviewResult {
        if let Some(OutputDecision::Ask(reason)) = self.decision {
            let reason = reason.unwrap_or_else(|| Arc::from("a hook wants it to be confirmed"));
            self.decision = Some(OutputDecision::Deny(reason));
        }
        self.into_review_result()
    }

    /// Converts to a review result.
    #[must_use]
    pub fn into_review_result(self) -> ReviewResult {
        match (self.stop, self.decision) {
            (Some(reason), _) => ReviewResult::Stop { reason },
            (None, Some(OutputDecision::Deny(reason))) => ReviewResult::Block { reason },
            (
                None,
                Some(OutputDecision::Allow | OutputDecision::Ask(_) | OutputDecision::Defer) | None,
            ) => ReviewResult::Pass { context: self.context },
        }
    }
}

/// Returns the decision that replaces the arguments of a call, or the output of one that has run.
/// The runtime assesses changed arguments.
fn changed_call(
    input: RawJson,
    preference: HookPreference,
    reason: Option<Arc<str>>,
) -> HookDecision {
    HookDecision::Change { input, facts: Box::new(CallFacts::default()), preference, reason }
}

/// Parses the standard output of a hook that exited with 0. Text that is not a JSON object is
/// ignored, except where it is context for the model.
fn parse_stdout(
    event: HookEvent,
    input: &Value,
    stdout: &CapturedStream,
) -> Result<HookOutput, String> {
    let text = stdout.text.trim();
    if !text.starts_with('{') {
        return Ok(HookOutput {
            context: plain_text_context(event, text),
            ..HookOutput::default()
        });
    }
    if stdout.is_truncated {
        return Err("printed too much JSON".to_owned());
    }
    let value: Value = serde_json::from_str(text)
        .map_err(|error| format!("printed JSON that is not valid ({error})"))?;
    // Text that a model wrote must not count as a decision of the hook.
    if is_echo(input, &value, text) {
        return Ok(HookOutput::default());
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
fn parse_output(event: HookEvent, value: &Value) -> Result<HookOutput, String> {
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
    let optional_reason = |of: &Map<String, Value>, name: &str| {
        let given = match text_field(of, name)? {
            Some(given) => Some(given),
            None => text_field(whole, "reason")?,
        };
        Ok::<_, String>(given.map(truncate_text))
    };
    let reason = |of: &Map<String, Value>, name: &str| {
        let given = optional_reason(of, name)?;
        Ok::<_, String>(given.unwrap_or_else(|| Arc::from("blocked by a hook without a reason")))
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
        Some("block" | "deny") => Some(OutputDecision::Deny(reason(whole, "reason")?)),
        Some("approve" | "allow") => Some(OutputDecision::Allow),
        Some("ask") => Some(OutputDecision::Ask(optional_reason(whole, "reason")?)),
        Some(other) => return Err(unknown_value_error("decision", other, "block or approve")),
    };
    let new = match text_field(specific, "permissionDecision")? {
        None => None,
        Some("deny") => Some(OutputDecision::Deny(reason(specific, "permissionDecisionReason")?)),
        Some("allow") => Some(OutputDecision::Allow),
        Some("ask") => {
            let reason = optional_reason(specific, "permissionDecisionReason")?;
            Some(OutputDecision::Ask(reason))
        }
        Some("defer") => Some(OutputDecision::Defer),
        Some(other) => {
            let expected = "allow, deny, ask or defer";
            return Err(unknown_value_error("permissionDecision", other, expected));
        }
    };
    Ok(HookOutput {
        decision: new.or(old),
        stop,
        replacement: parse_replacement(event, specific)?,
        context: text_field(specific, "additionalContext")?.map(truncate_text),
        user_message: text_field(whole, "systemMessage")?.map(truncate_text),
        permission: match event {
            HookEvent::PermissionRequest => parse_permission(specific)?,
            _ => None,
        },
    })
}

/// Parses the decision about a permission request.
fn parse_permission(
    specific: &Map<String, Value>,
) -> Result<Option<PermissionHookDecision>, String> {
    let Some(Value::Object(decision)) = specific.get("decision") else { return Ok(None) };
    match text_field(decision, "behavior")? {
        Some("allow") => Ok(Some(PermissionHookDecision::Allow {
            input: decision.get("updatedInput").filter(|input| input.is_object()).cloned(),
            permissions: decision.get("updatedPermissions").cloned(),
        })),
        Some("deny") => Ok(Some(PermissionHookDecision::Deny {
            reason: truncate_text(text_field(decision, "message")?.unwrap_or("denied by a hook")),
            interrupt: decision.get("interrupt").and_then(Value::as_bool).unwrap_or(false),
        })),
        Some(other) => Err(unknown_value_error("behavior", other, "allow or deny")),
        None => Ok(None),
    }
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
