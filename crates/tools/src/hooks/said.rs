//! What a hook said, read from how its command ended.
//!
//! Exit code 0 is consent, and JSON on standard output may say more. Exit code 2 is a no, for the
//! reason on standard error. Every other end is an error of the hook.

use std::sync::Arc;

use serde_json::{Map, Value};
use windlass_core::counsel::Advice;
use windlass_core::facts::Facts;
use windlass_core::input::HookAnswer;
use windlass_core::permission::Lean;
use windlass_core::raw::Raw;
use windlass_runtime::ports::Heard;

use super::config::Event;
use super::shell::{Ended, How, Stream};

/// Characters of a reason or a context.
const MAX_CHARS: usize = 10_000;

/// What a hook said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Said {
    verdict: Option<Verdict>,
    stop: Option<Arc<str>>,
    changed: Option<Raw>,
    context: Option<Arc<str>>,
    /// What the user is to read.
    message: Option<Arc<str>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    Allow,
    Ask,
    Deny(Arc<str>),
}

impl Said {
    pub(super) fn deny(reason: &str) -> Self {
        Self { verdict: Some(Verdict::Deny(bounded(reason))), ..Self::default() }
    }

    /// Reads how a command ended that was given `input`. `Err` says why it counts as failed.
    pub(super) fn of(
        event: Event,
        command: &str,
        input: &Value,
        ended: std::io::Result<Ended>,
    ) -> Result<Self, String> {
        let name = shown(command);
        let ended = ended.map_err(|error| format!("`{name}` did not start: {error}"))?;
        match ended.how {
            How::TimedOut { after_ms } => {
                Err(format!("`{name}` was stopped because it took longer than {after_ms} ms"))
            }
            How::Killed => Err(format!("`{name}` was killed")),
            How::Exited(0) => {
                read(event, input, &ended.stdout).map_err(|why| format!("`{name}` {why}"))
            }
            How::Exited(2) => Ok(Self::deny(&reason(&ended, &name))),
            How::Exited(code) => {
                let why = ended.stderr.text.trim();
                Err(format!("`{name}` failed with exit code {code}: {}", bounded(why)))
            }
        }
    }

    /// Takes out what the user is to read: a message, and what is said against an event that nothing
    /// can hold back.
    pub(super) fn take_messages(&mut self, event: Event) -> Vec<Arc<str>> {
        let mut messages: Vec<Arc<str>> = self.message.take().into_iter().collect();
        if !event.can_block()
            && let Some(Verdict::Deny(reason)) = self.verdict.take()
        {
            messages.push(reason);
        }
        messages
    }

    /// The command of a gate: nothing but success will do.
    pub(super) fn of_gate(command: &str, ended: std::io::Result<Ended>) -> Self {
        let name = shown(command);
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => return Self::deny(&format!("`{name}` did not start: {error}")),
        };
        let printed = format!("{}\n{}", ended.stdout.text.trim(), ended.stderr.text.trim());
        match ended.how {
            How::Exited(0) => Self::default(),
            How::Exited(code) => {
                Self::deny(&format!("`{name}` must succeed and ended with {code}:\n{printed}"))
            }
            How::TimedOut { after_ms } => {
                Self::deny(&format!("`{name}` must succeed and took longer than {after_ms} ms"))
            }
            How::Killed => Self::deny(&format!("`{name}` must succeed and was killed")),
        }
    }

    /// As an answer about a call that is to run.
    pub(super) fn before(self) -> Heard {
        let answer = match (self.stop, self.verdict, self.changed) {
            (Some(reason), _, _) | (_, Some(Verdict::Deny(reason)), _) => {
                HookAnswer::Deny { reason }
            }
            (_, verdict, Some(input)) => {
                let lean = match verdict {
                    Some(Verdict::Allow) => Lean::Allow,
                    Some(Verdict::Ask) => Lean::Ask,
                    Some(Verdict::Deny(_)) | None => Lean::Neutral,
                };
                HookAnswer::Change { input, facts: Box::new(Facts::default()), lean }
            }
            (_, Some(Verdict::Allow), None) => HookAnswer::Allow {},
            (_, Some(Verdict::Ask), None) => HookAnswer::Ask {},
            (_, None, None) => HookAnswer::Pass {},
        };
        Heard { answer, context: self.context }
    }

    /// As an answer about a call that came back. It has run: what is said against it goes to the model
    /// beside the result.
    pub(super) fn after(self, subject: &str) -> Heard {
        let against = match (self.stop, self.verdict) {
            (Some(reason), _) | (None, Some(Verdict::Deny(reason))) => {
                Some(format!("{subject} hook blocking error: {reason}"))
            }
            (None, Some(Verdict::Allow | Verdict::Ask) | None) => None,
        };
        let context = match (against, self.context) {
            (Some(against), Some(context)) => Some(Arc::from(format!("{against}\n{context}"))),
            (Some(against), None) => Some(Arc::from(against)),
            (None, context) => context,
        };
        let answer = match self.changed {
            Some(input) => {
                let (facts, lean) = (Box::new(Facts::default()), Lean::Neutral);
                HookAnswer::Change { input, facts, lean }
            }
            None => HookAnswer::Pass {},
        };
        Heard { answer, context }
    }

    /// As counsel.
    pub(super) fn advice(self) -> Advice {
        match (self.stop, self.verdict) {
            (Some(reason), _) => Advice::Stop { reason },
            (None, Some(Verdict::Deny(reason))) => Advice::Block { reason },
            (None, Some(Verdict::Allow | Verdict::Ask) | None) => {
                Advice::Pass { context: self.context }
            }
        }
    }
}

/// What was printed by a hook that has nothing against it. Text that is not a JSON object says
/// nothing, except where it is for the model.
fn read(event: Event, input: &Value, stdout: &Stream) -> Result<Said, String> {
    let text = stdout.text.trim();
    if !text.starts_with('{') {
        return Ok(Said { context: spoken(event, text), ..Said::default() });
    }
    if stdout.is_cut {
        return Err("printed more JSON than is read".to_owned());
    }
    let said: Value = serde_json::from_str(text)
        .map_err(|error| format!("printed JSON that is not valid ({error})"))?;
    // What a model wrote must not count as what the hook decided.
    if is_echo(input, &said, text) {
        return Ok(Said::default());
    }
    object(event, &said)
}

/// Whether a hook gives back what it was given, or a part of it.
fn is_echo(input: &Value, said: &Value, text: &str) -> bool {
    let inside = match input {
        Value::String(given) => {
            let given = given.trim();
            return given == text
                || (given.starts_with('{')
                    && serde_json::from_str::<Value>(given).is_ok_and(|given| given == *said));
        }
        Value::Array(items) => items.iter().any(|item| is_echo(item, said, text)),
        Value::Object(fields) => fields.values().any(|field| is_echo(field, said, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    };
    inside || input == said
}

fn spoken(event: Event, text: &str) -> Option<Arc<str>> {
    let speaks = matches!(event, Event::UserPromptSubmit | Event::SessionStart);
    (speaks && !text.is_empty()).then(|| bounded(text))
}

/// Reads the object. A value that means nothing is an error: it may have been meant to hold
/// something back.
fn object(event: Event, said: &Value) -> Result<Said, String> {
    let nothing = Map::new();
    let specific = match said.get("hookSpecificOutput") {
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
    let whole = said.as_object().unwrap_or(&nothing);
    let reason = |of: &Map<String, Value>, name: &str| -> Result<Arc<str>, String> {
        let given = match text(of, name)? {
            Some(given) => Some(given),
            None => text(whole, "reason")?,
        };
        Ok(bounded(given.unwrap_or("a hook blocked it and gave no reason")))
    };
    let stop = match whole.get("continue") {
        None | Some(Value::Bool(true)) => None,
        Some(Value::Bool(false)) => {
            Some(bounded(text(whole, "stopReason")?.unwrap_or("a hook ended the run")))
        }
        Some(other) => return Err(unknown("continue", &other.to_string(), "true or false")),
    };
    let old = match text(whole, "decision")? {
        None => None,
        Some("block" | "deny") => Some(Verdict::Deny(reason(whole, "reason")?)),
        Some("approve" | "allow") => Some(Verdict::Allow),
        Some("ask") => Some(Verdict::Ask),
        Some(other) => return Err(unknown("decision", other, "block or approve")),
    };
    let new = match text(specific, "permissionDecision")? {
        None => None,
        Some("deny") => Some(Verdict::Deny(reason(specific, "permissionDecisionReason")?)),
        Some("allow") => Some(Verdict::Allow),
        Some("ask" | "defer") => Some(Verdict::Ask),
        Some(other) => return Err(unknown("permissionDecision", other, "allow, deny or ask")),
    };
    Ok(Said {
        verdict: new.or(old),
        stop,
        changed: changed(event, specific)?,
        context: text(specific, "additionalContext")?.map(bounded),
        message: text(whole, "systemMessage")?.map(bounded),
    })
}

/// The arguments or the result that a hook puts in the place of others.
fn changed(event: Event, specific: &Map<String, Value>) -> Result<Option<Raw>, String> {
    match event {
        Event::PreToolUse => match specific.get("updatedInput") {
            None | Some(Value::Null) => Ok(None),
            Some(input @ Value::Object(_)) => Ok(Some(Raw::encode(input))),
            Some(_) => Err("printed an `updatedInput` that is not an object".to_owned()),
        },
        Event::PostToolUse => {
            let names = ["updatedToolOutput", "updatedMCPToolOutput"];
            let output = names.iter().find_map(|name| specific.get(*name));
            Ok(output.filter(|output| !output.is_null()).map(Raw::encode))
        }
        _ => Ok(None),
    }
}

fn text<'a>(of: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, String> {
    match of.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("printed a `{name}` that is not a text")),
    }
}

fn unknown(name: &str, value: &str, expected: &str) -> String {
    format!("printed the unknown `{name}` `{}`; use {expected}", shown(value))
}

/// The reason of a hook that said no by its exit code.
fn reason(ended: &Ended, name: &str) -> String {
    let said = ended.stderr.text.trim();
    if said.is_empty() {
        format!("the hook `{name}` blocked it and gave no reason")
    } else {
        said.to_owned()
    }
}

fn bounded(text: &str) -> Arc<str> {
    let cut: String = text.chars().take(MAX_CHARS).collect();
    Arc::from(cut)
}

/// A command, short enough for a sentence.
fn shown(command: &str) -> String {
    crate::input::summary(command).to_string()
}
