//! The inbox: commands from outside. A command is durable before its sender gets an
//! acknowledgement; the owner of the lane reads it into the log.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::log::ids::{InboxMessageId, LaneId, QuestionId, RunId};
use crate::message::content_block::ContentBlock;
use crate::permission::PermissionRule;
use crate::run::child_runs::{ChildResult, ChildTask, ParentLink};
use crate::settings::run_settings::RunSettings;

/// A message in the inbox.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct InboxMessage {
    /// Id of the message in the inbox.
    pub id: InboxMessageId,
    /// The command.
    pub body: InboxCommand,
}

/// A command from outside.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum InboxCommand {
    /// Start a run, now or when the runs before it have ended.
    #[serde(rename = "prompt/1")]
    Prompt {
        /// Id of the run.
        run: RunId,
        /// The content of the prompt.
        blocks: Vec<ContentBlock>,
        /// Settings of this run; without them it has those of the conversation's owner.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            with = "crate::settings::run_settings_json"
        )]
        settings: Option<Arc<RunSettings>>,
    },
    /// Send a steering message to the active run after its current round; without an active run it
    /// is a prompt.
    #[serde(rename = "steer/1")]
    Steer {
        /// Id of the run that it starts if none is active.
        run: RunId,
        /// The content of the message.
        blocks: Vec<ContentBlock>,
    },
    /// Answer a question.
    #[serde(rename = "answer/1")]
    Answer {
        /// Id of the question.
        question: QuestionId,
        /// The answer.
        answer: HumanAnswer,
    },
    /// Stop at the next safe boundary.
    #[serde(rename = "cancel/1")]
    Cancel {
        /// The run to cancel; the active one if not given.
        run: Option<RunId>,
    },
    /// Stop now: the model stream and all interruptible calls.
    #[serde(rename = "abort/1")]
    Abort {
        /// The run to abort; the active one if not given.
        run: Option<RunId>,
    },
    /// A child run ended.
    #[serde(rename = "child_finished/1")]
    ChildFinished {
        /// Lane of the child.
        child: LaneId,
        /// The text that the child returned.
        text: Arc<str>,
        /// The result for the call that waits for it; without one the text goes to the active run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<ChildResult>,
    },
    /// Start the one run of a child.
    #[serde(rename = "task/1")]
    Task {
        /// Id of the run.
        run: RunId,
        /// The task of the child.
        task: ChildTask,
        /// The parent of the child.
        parent: ParentLink,
    },
    /// Compact now, without waiting for the window to fill.
    #[serde(rename = "compact/1")]
    Compact {
        /// What the summary must keep, if given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instructions: Option<Arc<str>>,
    },
    /// Instructions that were found during the run.
    #[serde(rename = "memory/1")]
    Memory {
        /// Text of the instructions.
        text: Arc<str>,
    },
}

/// A human's answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HumanAnswer {
    /// Approves: run the call.
    Allow {
        /// A rule to keep for the rest of the conversation, exactly as it was shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<PermissionRule>,
        /// Hash of the input that was approved: a call with another input is not approved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_hash: Option<Arc<str>>,
    },
    /// Denies the call.
    Deny {
        /// Reason for the model.
        reason: Arc<str>,
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

impl InboxCommand {
    /// A prompt that uses the settings of the conversation's owner.
    #[must_use]
    pub fn prompt(run: RunId, blocks: Vec<ContentBlock>) -> Self {
        Self::Prompt { run, blocks, settings: None }
    }

    /// Returns the kind of the command, as stores keep it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Prompt { .. } => "prompt",
            Self::Steer { .. } => "steer",
            Self::Answer { .. } => "answer",
            Self::Cancel { .. } => "cancel",
            Self::Abort { .. } => "abort",
            Self::ChildFinished { .. } => "child_finished",
            Self::Task { .. } => "task",
            Self::Compact { .. } => "compact",
            Self::Memory { .. } => "memory",
        }
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
        Self::Allow { rule: None, input_hash: None }
    }

    /// Approves the call and keeps this rule for the rest of the conversation.
    #[must_use]
    pub fn allow_with_rule(rule: PermissionRule) -> Self {
        Self::Allow { rule: Some(rule), input_hash: None }
    }

    /// Returns the answer, if it approves, limited to this input.
    #[must_use]
    pub fn for_input_hash(self, hash: &str) -> Self {
        match self {
            Self::Allow { rule, .. } => Self::Allow { rule, input_hash: Some(Arc::from(hash)) },
            Self::Deny { .. }
            | Self::Retry {}
            | Self::MarkDone { .. }
            | Self::Abandon {}
            | Self::Continue {}
            | Self::Text { .. } => self,
        }
    }
}
