//! What a hook said, read from how its command ended.

use std::sync::Arc;

use serde_json::Value;
use windlass_core::counsel::Advice;
use windlass_core::facts::Facts;
use windlass_core::input::HookAnswer;
use windlass_core::permission::Lean;
use windlass_core::raw::Raw;
use windlass_runtime::ports::Heard;

use super::config::Event;
use super::shell::{Ended, How};

/// Characters of a reason or a context.
const MAX_CHARS: usize = 10_000;

/// What a hook said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Said {
    verdict: Option<Verdict>,
    stop: Option<Arc<str>>,
    changed: Option<Raw>,
    context: Option<Arc<str>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    Allow,
    Ask,
    Deny(Arc<str>),
}

impl Said {
    pub(super) fn deny(reason: String) -> Self {
        Self { verdict: Some(Verdict::Deny(bounded(&reason))), ..Self::default() }
    }

    /// Reads how a command ended. `Err` says why it counts as failed.
    pub(super) fn of(
        event: Event,
        command: &str,
        ended: std::io::Result<Ended>,
    ) -> Result<Self, String> {
        let name = shown(command);
        let ended = ended.map_err(|error| format!("the hook `{name}` did not start: {error}"))?;
        match ended.how {
            How::TimedOut { after_ms } => {
                Err(format!("the hook `{name}` did not answer within {after_ms} ms"))
            }
            How::Killed => Err(format!("the hook `{name}` was killed")),
            How::Exited(0) => Ok(read(event, &ended.stdout)),
            How::Exited(2) => Ok(Self::deny(reason(&ended, &name))),
            How::Exited(code) => {
                let why = ended.stderr.trim().to_owned();
                Err(format!("the hook `{name}` failed with exit code {code}: {why}"))
            }
        }
    }

    /// The command of a gate: nothing but success will do.
    pub(super) fn of_gate(command: &str, ended: std::io::Result<Ended>) -> Self {
        let name = shown(command);
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => return Self::deny(format!("`{name}` did not start: {error}")),
        };
        let printed = format!("{}\n{}", ended.stdout.trim(), ended.stderr.trim());
        match ended.how {
            How::Exited(0) => Self::default(),
            How::Exited(code) => {
                Self::deny(format!("`{name}` must succeed and ended with {code}:\n{printed}"))
            }
            How::TimedOut { after_ms } => {
                Self::deny(format!("`{name}` must succeed and took longer than {after_ms} ms"))
            }
            How::Killed => Self::deny(format!("`{name}` must succeed and was killed")),
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

    /// As an answer about a call that came back.
    pub(super) fn after(self) -> Heard {
        let answer = match (self.stop, self.verdict, self.changed) {
            (Some(reason), _, _) | (_, Some(Verdict::Deny(reason)), _) => {
                HookAnswer::Deny { reason }
            }
            (_, _, Some(input)) => {
                let (facts, lean) = (Box::new(Facts::default()), Lean::Neutral);
                HookAnswer::Change { input, facts, lean }
            }
            (_, _, None) => HookAnswer::Pass {},
        };
        Heard { answer, context: self.context }
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

/// What was printed by a hook that has nothing against it. What is no JSON object says nothing,
/// except where words are for the model.
fn read(event: Event, stdout: &str) -> Said {
    match serde_json::from_str::<Value>(stdout.trim()) {
        Ok(Value::Object(said)) => object(event, &Value::Object(said)),
        Ok(_) | Err(_) => Said { context: spoken(event, stdout), ..Said::default() },
    }
}

fn spoken(event: Event, stdout: &str) -> Option<Arc<str>> {
    let speaks = matches!(event, Event::UserPromptSubmit | Event::SessionStart);
    (speaks && !stdout.trim().is_empty()).then(|| bounded(stdout.trim()))
}

fn object(event: Event, said: &Value) -> Said {
    let specific = said.get("hookSpecificOutput").filter(|specific| {
        let about = text(specific, "hookEventName");
        about.is_none_or(|about| about == event.name())
    });
    let specific = specific.unwrap_or(&Value::Null);
    let reason = |name: &str, of: &Value| {
        let given = text(of, name).or_else(|| text(said, "reason")).unwrap_or("a hook said no");
        bounded(given)
    };
    let stop = (said.get("continue") == Some(&Value::Bool(false)))
        .then(|| bounded(text(said, "stopReason").unwrap_or("a hook ended the run")));
    let old = match text(said, "decision") {
        Some("block" | "deny") => Some(Verdict::Deny(reason("reason", said))),
        Some("approve" | "allow") => Some(Verdict::Allow),
        Some("ask") => Some(Verdict::Ask),
        Some(_) | None => None,
    };
    let new = match text(specific, "permissionDecision") {
        Some("deny") => Some(Verdict::Deny(reason("permissionDecisionReason", specific))),
        Some("allow") => Some(Verdict::Allow),
        Some("ask" | "defer") => Some(Verdict::Ask),
        Some(_) | None => None,
    };
    let changed = ["updatedInput", "updatedToolOutput", "updatedMCPToolOutput"]
        .iter()
        .find_map(|name| specific.get(name))
        .map(Raw::encode);
    let context = text(specific, "additionalContext").map(bounded);
    Said { verdict: new.or(old), stop, changed, context }
}

fn text<'a>(of: &'a Value, name: &str) -> Option<&'a str> {
    of.get(name).and_then(Value::as_str)
}

/// The reason of a hook that said no by its exit code.
fn reason(ended: &Ended, name: &str) -> String {
    let said = ended.stderr.trim();
    if said.is_empty() { format!("the hook `{name}` said no") } else { said.to_owned() }
}

fn bounded(text: &str) -> Arc<str> {
    let cut: String = text.chars().take(MAX_CHARS).collect();
    Arc::from(cut)
}

/// A command, short enough for a sentence.
fn shown(command: &str) -> String {
    crate::input::summary(command).to_string()
}
