//! Answers of humans to questions: what was decided, and who decided it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::call::call_facts::CallFacts;
use crate::message::raw_json::RawJson;
use crate::permission::{PermissionRule, PermissionUpdate};

/// A human's answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HumanAnswer {
    /// Approves: run the call. With changed arguments, an interrupted call is run again.
    Allow {
        /// A rule to keep for the rest of the conversation, exactly as it was shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<PermissionRule>,
        /// Hash of the input that was approved: a call with another input is not approved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_hash: Option<Arc<str>>,
        /// Arguments to run the call with instead of the model's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changed_input: Option<ChangedInput>,
        /// Changes of the permissions for the rest of the conversation.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        updates: Vec<PermissionUpdate>,
    },
    /// Denies the call.
    Deny {
        /// Reason for the model.
        reason: Arc<str>,
        /// What happens to the run.
        #[serde(default, skip_serializing_if = "AfterDenial::is_continue")]
        then: AfterDenial,
    },
    /// The interrupted call did not happen: run it again.
    Retry {},
    /// The interrupted call did happen.
    MarkDone {
        /// Result of the call.
        text: Arc<str>,
    },
    /// Leave the interrupted call as it is, or end a run that cannot continue.
    Abandon {},
    /// Continue although the prompt or the tools changed.
    Continue {},
    /// Text, for a tool that asks a question.
    Text {
        /// The text.
        text: Arc<str>,
    },
}

/// Arguments that a human gave a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ChangedInput {
    /// The new arguments.
    pub input: RawJson,
    /// Facts of the changed call. The owner of the lane assesses it when it reads the answer;
    /// whatever the sender puts here is replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Box<CallFacts>>,
}

/// What happens to a run after a human denied one of its calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterDenial {
    /// The model reads the reason, and the run continues.
    #[default]
    Continue,
    /// The run is interrupted, as by an abort.
    Interrupt,
}

impl AfterDenial {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    fn is_continue(&self) -> bool {
        *self == Self::Continue
    }
}

/// The kind of a human's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// The call is approved.
    Allow,
    /// The call is denied.
    Deny,
    /// The call is run again.
    Retry,
    /// The effect of the call did happen.
    MarkDone,
    /// The call or the run is given up.
    Abandon,
    /// The run continues.
    Continue,
    /// Text for the model.
    Text,
}

/// Who gave an answer. Recorded with it and shown to people; it decides nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AnswerSource {
    /// The way on which the answer came.
    pub channel: AnswerChannel,
    /// More about it in a few words, such as the name of a user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Arc<str>>,
}

/// The way on which an answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerChannel {
    /// A person at the terminal that follows the run.
    Terminal,
    /// A command such as `windlass approve`, from any process.
    Command,
    /// A callback of the program that uses the library.
    Callback,
    /// The program behind an Agent SDK.
    Sdk,
    /// A client of the HTTP API or the dashboard.
    Api,
    /// An editor.
    Editor,
    /// A hook that answers permission requests.
    Hook,
}

impl AnswerChannel {
    /// Returns the name of the channel, as the log has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Command => "command",
            Self::Callback => "callback",
            Self::Sdk => "sdk",
            Self::Api => "api",
            Self::Editor => "editor",
            Self::Hook => "hook",
        }
    }
}

/// Maximum characters of the detail of an [`AnswerSource`].
const MAX_DETAIL_CHARS: usize = 200;

impl AnswerSource {
    /// Returns the source of answers that come on this channel.
    #[must_use]
    pub fn new(channel: AnswerChannel) -> Self {
        Self { channel, detail: None }
    }

    /// Returns the source with more about it, cut to 200 characters.
    #[must_use]
    pub fn with_detail(mut self, detail: &str) -> Self {
        let short: String = detail.trim().chars().take(MAX_DETAIL_CHARS).collect();
        self.detail = (!short.is_empty()).then(|| Arc::from(short));
        self
    }
}

impl HumanAnswer {
    /// Returns the kind of the answer.
    #[must_use]
    pub fn kind(&self) -> AnswerKind {
        match self {
            Self::Allow { .. } => AnswerKind::Allow,
            Self::Deny { .. } => AnswerKind::Deny,
            Self::Retry {} => AnswerKind::Retry,
            Self::MarkDone { .. } => AnswerKind::MarkDone,
            Self::Abandon {} => AnswerKind::Abandon,
            Self::Continue {} => AnswerKind::Continue,
            Self::Text { .. } => AnswerKind::Text,
        }
    }

    /// Approves the call once.
    #[must_use]
    pub fn allow() -> Self {
        Self::Allow { rule: None, input_hash: None, changed_input: None, updates: Vec::new() }
    }

    /// Approves the call and keeps this rule for the rest of the conversation.
    #[must_use]
    pub fn allow_with_rule(granted: PermissionRule) -> Self {
        let mut answer = Self::allow();
        if let Self::Allow { rule, .. } = &mut answer {
            *rule = Some(granted);
        }
        answer
    }

    /// Denies the call; the model reads the reason.
    #[must_use]
    pub fn deny(reason: impl Into<Arc<str>>) -> Self {
        Self::Deny { reason: reason.into(), then: AfterDenial::Continue }
    }

    /// Denies the call and interrupts the run.
    #[must_use]
    pub fn deny_and_interrupt(reason: impl Into<Arc<str>>) -> Self {
        Self::Deny { reason: reason.into(), then: AfterDenial::Interrupt }
    }

    /// Returns the answer, if it approves, limited to this input.
    #[must_use]
    pub fn for_input_hash(mut self, hash: &str) -> Self {
        if let Self::Allow { input_hash, .. } = &mut self {
            *input_hash = Some(Arc::from(hash));
        }
        self
    }

    /// Returns the answer, if it approves, with these arguments for the call. Rules that deny the
    /// changed call still win.
    #[must_use]
    pub fn with_changed_input(mut self, input: RawJson) -> Self {
        if let Self::Allow { changed_input, .. } = &mut self {
            *changed_input = Some(ChangedInput { input, facts: None });
        }
        self
    }

    /// Returns the answer, if it approves, with these changes of the permissions for the rest of
    /// the conversation.
    #[must_use]
    pub fn with_permission_updates(mut self, more: Vec<PermissionUpdate>) -> Self {
        if let Self::Allow { updates, .. } = &mut self {
            updates.extend(more);
        }
        self
    }

    /// Returns the changes of the permissions that come with the answer.
    #[must_use]
    pub fn permission_updates(&self) -> &[PermissionUpdate] {
        match self {
            Self::Allow { updates, .. } => updates,
            Self::Deny { .. }
            | Self::Retry {}
            | Self::MarkDone { .. }
            | Self::Abandon {}
            | Self::Continue {}
            | Self::Text { .. } => &[],
        }
    }

    /// Returns the arguments that the call gets with the answer, if it changes them.
    #[must_use]
    pub fn changed_input(&self) -> Option<&ChangedInput> {
        match self {
            Self::Allow { changed_input, .. } => changed_input.as_ref(),
            Self::Deny { .. }
            | Self::Retry {}
            | Self::MarkDone { .. }
            | Self::Abandon {}
            | Self::Continue {}
            | Self::Text { .. } => None,
        }
    }
}
