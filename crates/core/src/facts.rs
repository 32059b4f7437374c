//! What the edge found out about a call before anything was decided: the result of a tool's
//! `assess`. Facts are recorded, so the same decision can be made again anywhere.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::child::Task;
use crate::journal::Wish;
use crate::order::Touches;
use crate::outcome::ToolError;
use crate::permission::Subject;

/// Facts about one call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Facts {
    /// What it touches.
    pub touches: Touches,
    /// Whether running it twice does no harm. Decides retry, and what a crash means.
    pub repeat: Repeat,
    /// Whether an abort may stop it half-way.
    pub interrupt: Interrupt,
    /// Whether the tool can say afterwards if an interrupted call took effect.
    #[serde(default)]
    pub verify: Verify,
    /// Who answers it.
    #[serde(default)]
    pub answered_by: AnsweredBy,
    /// How long it may run.
    pub timeout_ms: u64,
    /// Why it must not run at all: unknown tool, arguments that do not fit the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<ToolError>,
    /// One line for a human who is asked about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Arc<str>>,
    /// What it is about, as far as permission rules can see.
    #[serde(default, skip_serializing_if = "Subject::is_nothing")]
    pub subject: Subject,
    /// What it wants of the journal, if the journal answers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<Wish>,
    /// The tasks it hands to children, if they answer it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Task>,
}

/// Whether a call may be repeated without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeat {
    /// Running it again is harmless.
    Repeatable,
    /// It has effects; the default for everything unknown.
    OnceOnly,
}

/// Whether a running call may be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interrupt {
    /// An abort stops it.
    Interruptible,
    /// It is left to finish.
    RunsToEnd,
}

/// Whether the tool can find out what became of an interrupted call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verify {
    /// It has a probe.
    CanTell,
    /// Only a human can.
    #[default]
    CannotTell,
}

/// Who produces the result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// The tool's own code.
    #[default]
    Tool,
    /// A human: the call is a question.
    Human,
    /// A human: the call presents a plan, and its approval ends plan mode.
    PlanApproval,
    /// The journal of the conversation.
    Journal,
    /// Conversations of their own, begun for this call.
    Children,
}

/// How long a call may run if its tool says nothing else.
const TIMEOUT_MS: u64 = 120_000;

/// What is assumed where a tool says nothing: it has effects, alone, once, to the end.
impl Default for Facts {
    fn default() -> Self {
        Self {
            touches: Touches::Exclusive,
            repeat: Repeat::OnceOnly,
            interrupt: Interrupt::RunsToEnd,
            verify: Verify::CannotTell,
            answered_by: AnsweredBy::Tool,
            timeout_ms: TIMEOUT_MS,
            problem: None,
            summary: None,
            subject: Subject::Nothing,
            journal: None,
            children: Vec::new(),
        }
    }
}

impl Facts {
    /// What is known of a call that nobody assessed: nothing, so it may not run.
    #[must_use]
    pub fn unknown(tool: &str) -> Self {
        let problem = Some(ToolError::unknown_tool(tool));
        Self { timeout_ms: 0, problem, ..Self::default() }
    }

    /// The same facts about a call that is about `subject`.
    #[must_use]
    pub fn about(mut self, subject: Subject) -> Self {
        self.subject = subject;
        self
    }

    /// Whether it only looks, as somebody we trust says: what a server says of itself grants
    /// company, not repetition.
    #[must_use]
    pub fn only_looks(&self) -> bool {
        self.touches.is_read() && self.is_repeatable()
    }

    /// Whether the call may be repeated without asking.
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        self.repeat == Repeat::Repeatable
    }
}
