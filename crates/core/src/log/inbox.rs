//! The inbox: commands from outside. A command is durable before its sender gets an
//! acknowledgement; the owner of the lane reads it into the log.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::log::ids::{InboxMessageId, LaneId, QuestionId, RunId, Seq};
use crate::message::content_block::ContentBlock;
use crate::message::history_message::HistoryMessage;
use crate::permission::PermissionUpdate;
use crate::run::child_runs::{ChildResult, ChildTask, ParentLink};
use crate::settings::model_change::ModelChange;
use crate::settings::run_settings::RunSettings;

pub use crate::log::human_answer::{
    AfterDenial, AnswerChannel, AnswerKind, AnswerSource, ChangedInput, HumanAnswer,
};

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
        /// Who answered, if the sender said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answered_by: Option<AnswerSource>,
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
        /// What a reader has seen of the reply in flight: it stays in the conversation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        partial_reply: Option<Arc<str>>,
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
        /// Id of a run that does nothing else and waits its turn like a prompt. Without one the
        /// context is compacted before the next model call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
    },
    /// Instructions that were found during the run.
    #[serde(rename = "memory/1")]
    Memory {
        /// Text of the instructions.
        text: Arc<str>,
    },
    /// Change the permissions from now on: of the active run at once, and of later runs.
    #[serde(rename = "update_permissions/1")]
    UpdatePermissions {
        /// The changes, in order.
        updates: Vec<PermissionUpdate>,
    },
    /// Change the model from the next model call on, and for later runs.
    #[serde(rename = "set_model/1")]
    SetModel {
        /// What changes.
        change: Arc<ModelChange>,
    },
    /// Replace the messages of the conversation between two runs.
    #[serde(rename = "replace_history/1")]
    ReplaceHistory {
        /// What the model sees from now on, oldest first.
        messages: Vec<HistoryMessage>,
        /// Where the messages come from.
        source: HistorySource,
    },
}

/// Where messages that replace a history come from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistorySource {
    /// Another program wrote them.
    Imported {
        /// The last message, by the id that programs know it by.
        last_message: Arc<str>,
    },
    /// The conversation itself had them; what came after them is gone.
    Rewound {
        /// The last entry that still counts.
        at: Seq,
        /// The last message that still counts, by the id that programs know it by.
        last_message: Arc<str>,
    },
}

impl InboxCommand {
    /// A prompt that uses the settings of the conversation's owner.
    #[must_use]
    pub fn prompt(run: RunId, blocks: Vec<ContentBlock>) -> Self {
        Self::Prompt { run, blocks, settings: None }
    }

    /// An answer whose sender does not say who gave it.
    #[must_use]
    pub fn answer(question: QuestionId, answer: HumanAnswer) -> Self {
        Self::Answer { question, answer, answered_by: None }
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
            Self::UpdatePermissions { .. } => "update_permissions",
            Self::SetModel { .. } => "set_model",
            Self::ReplaceHistory { .. } => "replace_history",
        }
    }
}
