//! What arrives from outside. A mail is durable before its sender is told so, and the owner of the
//! lane drains it into the log.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::block::Block;
use crate::child::{Homecoming, Parent, Task};
use crate::ids::{LaneId, MailId, QuestionId, RunId};
use crate::permission::Rule;
use crate::run_settings::RunSettings;

/// A delivered mail.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mail {
    /// Its place in the mailbox.
    pub id: MailId,
    /// What it says.
    pub body: MailBody,
}

/// What a mail says.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MailBody {
    /// Begin a run, now or when the ones before it have ended.
    #[serde(rename = "prompt/1")]
    Prompt {
        /// The run it will be.
        run: RunId,
        /// What the person said.
        blocks: Vec<Block>,
        /// What the run has of its own; else it has what the owner of the conversation has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settings: Option<Arc<RunSettings>>,
    },
    /// Say something to the active run after its current round; without one it is a prompt.
    #[serde(rename = "steer/1")]
    Steer {
        /// The run it becomes if none is active.
        run: RunId,
        /// What the person said.
        blocks: Vec<Block>,
    },
    /// Answer a question.
    #[serde(rename = "answer/1")]
    Answer {
        /// Which question.
        question: QuestionId,
        /// The answer.
        answer: Answer,
    },
    /// Stop at the next safe boundary.
    #[serde(rename = "cancel/1")]
    Cancel {
        /// Which run; the active one if not said.
        run: Option<RunId>,
    },
    /// Stop now: the model stream and whatever may be interrupted.
    #[serde(rename = "abort/1")]
    Abort {
        /// Which run; the active one if not said.
        run: Option<RunId>,
    },
    /// A child conversation ended.
    #[serde(rename = "child_finished/1")]
    ChildFinished {
        /// Its lane.
        child: LaneId,
        /// What it brought back.
        text: Arc<str>,
        /// Which call waits for it; without one its words go to the active run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        home: Option<Homecoming>,
    },
    /// Begin the one run of a child.
    #[serde(rename = "task/1")]
    Task {
        /// The run it will be.
        run: RunId,
        /// What it is to do.
        task: Task,
        /// For whom.
        parent: Parent,
    },
    /// Make room now, without waiting for the window to fill.
    #[serde(rename = "compact/1")]
    Compact {
        /// What the summary must keep, if somebody said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wishes: Option<Arc<str>>,
    },
    /// Instructions that were found on the way.
    #[serde(rename = "memory/1")]
    Memory {
        /// Their text.
        text: Arc<str>,
    },
}

/// A human's answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Yes, run it.
    Allow {
        /// A rule to keep for the rest of the conversation, exactly as it was shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<Rule>,
        /// Hash of the input that was looked at: a call with another one is not meant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_hash: Option<Arc<str>>,
    },
    /// No.
    Deny {
        /// Why, for the model.
        reason: Arc<str>,
    },
    /// The interrupted call did not happen: run it again.
    Retry {},
    /// The interrupted call did happen.
    MarkDone {
        /// What it brought back.
        text: Arc<str>,
    },
    /// Leave the interrupted call as it is, or end a run that cannot go on.
    Abandon {},
    /// Go on although the prompt or the tools changed.
    Continue {},
    /// Words, for a tool that asks.
    Text {
        /// The words.
        text: Arc<str>,
    },
}

impl MailBody {
    /// A prompt with the settings of whoever drives the conversation.
    #[must_use]
    pub fn prompt(run: RunId, blocks: Vec<Block>) -> Self {
        Self::Prompt { run, blocks, settings: None }
    }

    /// Its kind, as stores keep it.
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

impl Answer {
    /// Yes, this once.
    #[must_use]
    pub fn allow() -> Self {
        Self::Allow { rule: None, input_hash: None }
    }

    /// Yes, and this rule is kept for the rest of the conversation.
    #[must_use]
    pub fn granting(rule: Rule) -> Self {
        Self::Allow { rule: Some(rule), input_hash: None }
    }

    /// The same, if it is a yes, for this input alone.
    #[must_use]
    pub fn for_input(self, hash: &str) -> Self {
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
