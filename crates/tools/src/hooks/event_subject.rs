//! What a hook is about: its event, and the tool, agent or reason that matchers see.

use serde_json::Value;
use windlass_runtime::ports::{HookMessage, HookMessageLevel};

use super::config::HookEvent;

/// An event and what it is about.
#[derive(Clone, Copy)]
pub(super) struct EventSubject<'a> {
    pub(super) event: HookEvent,
    pub(super) subject: &'a str,
}

impl EventSubject<'_> {
    /// Returns a message about the event, which had this payload.
    pub(super) fn message(self, level: HookMessageLevel, text: &str, input: &Value) -> HookMessage {
        let message = HookMessage::new(self.event.name(), level, text).about(self.subject);
        match input.get("tool_use_id").and_then(Value::as_str) {
            Some(id) => message.for_tool_use(id),
            None => message,
        }
    }
}

/// Returns a hook's label for the model: its event, and its subject.
pub(super) fn hook_label(event: HookEvent, subject: &str) -> String {
    match subject {
        "" => event.name().to_owned(),
        subject => format!("{}:{subject}", event.name()),
    }
}
