//! Messages of hooks to the user. The model does not see them, and they are not recorded: readers of
//! the run receive them live.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum messages of one call of a hook; more would not be read.
const MAX_MESSAGES: usize = 100;

/// Maximum characters of a message.
const MAX_MESSAGE_CHARS: usize = 10_000;

/// A message of a hook to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookMessage {
    /// The event that the hook was called for, such as `PreToolUse`.
    pub event: Arc<str>,
    /// What the event is about, such as the name of a tool; empty if there is nothing to name.
    pub subject: Arc<str>,
    /// The id of the tool use, if the event is about a tool call.
    pub tool_use_id: Option<Arc<str>>,
    /// How important the message is.
    pub level: HookMessageLevel,
    /// Text of the message.
    pub text: Arc<str>,
}

/// How important a message of a hook is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookMessageLevel {
    /// The hook has something to say.
    Info,
    /// The hook failed, which blocked nothing.
    Warning,
}

impl HookMessage {
    /// Returns a message for the user, cut to 10,000 characters.
    #[must_use]
    pub fn new(event: &str, level: HookMessageLevel, text: &str) -> Self {
        let text: String = text.chars().take(MAX_MESSAGE_CHARS).collect();
        Self {
            event: Arc::from(event),
            subject: Arc::from(""),
            tool_use_id: None,
            level,
            text: Arc::from(text),
        }
    }

    /// Returns the message with what its event is about.
    #[must_use]
    pub fn about(mut self, subject: &str) -> Self {
        self.subject = Arc::from(subject);
        self
    }

    /// Returns the message with the tool use that its event is about.
    #[must_use]
    pub fn for_tool_use(mut self, id: &str) -> Self {
        self.tool_use_id = Some(Arc::from(id));
        self
    }

    /// Returns the event with its subject, such as `PreToolUse:Bash`.
    #[must_use]
    pub fn label(&self) -> String {
        match &*self.subject {
            "" => self.event.to_string(),
            subject => format!("{}:{subject}", self.event),
        }
    }
}

/// The messages that a call of a hook has for the user. Clones share their messages.
#[derive(Debug, Clone, Default)]
pub struct HookMessages(Arc<Mutex<Vec<HookMessage>>>);

impl HookMessages {
    /// Adds a message; beyond a bound of 100, messages are dropped.
    pub fn push(&self, message: HookMessage) {
        let mut waiting = self.lock();
        if waiting.len() < MAX_MESSAGES {
            waiting.push(message);
        }
    }

    /// Takes the messages, in order.
    #[must_use]
    pub fn take(&self) -> Vec<HookMessage> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<HookMessage>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
