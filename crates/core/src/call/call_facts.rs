//! Facts about a tool call, found by the tool's `assess` before anything is decided. They are
//! recorded, so the same decision can be made again anywhere.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::call::call_order::TouchedResources;
use crate::call::outcome::ToolError;
use crate::permission::{CallEffect, CallSubject, Grant, HookPreference, PermissionQuery};
use crate::run::child_runs::ChildTask;
use crate::run::journal::JournalRequest;

/// Facts about one tool call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallFacts {
    /// The resources that the call touches.
    pub touches: TouchedResources,
    /// Whether running the call twice does no harm. Decides about retries and crash recovery.
    pub repeat: Repeatability,
    /// Whether an abort may stop the call while it runs.
    pub interrupt: Interruptibility,
    /// Whether the tool can report afterwards if an interrupted call took effect.
    #[serde(default)]
    pub probe: ProbeSupport,
    /// What produces the result of the call.
    #[serde(default)]
    pub answered_by: AnsweredBy,
    /// How long the call may run.
    pub timeout_ms: u64,
    /// Why the call must not run at all: unknown tool, arguments that do not match the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<ToolError>,
    /// One line for the human who is asked for approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Arc<str>>,
    /// The subject of the call, as far as permission rules can see it.
    #[serde(default, skip_serializing_if = "CallSubject::is_nothing")]
    pub subject: CallSubject,
    /// The journal request of the call, if the journal answers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<JournalRequest>,
    /// The tasks that the call gives to child runs, if they answer it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ChildTask>,
    /// Whether the child runs work in the background: the call has its result at once, and theirs
    /// starts a run of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub children_in_background: bool,
}

/// Whether a call may be repeated without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeatability {
    /// Running the call again is harmless.
    Repeatable,
    /// The call has side effects; the default for everything unknown.
    OnceOnly,
}

/// Whether a running call may be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interruptibility {
    /// An abort stops the call.
    Interruptible,
    /// The call is allowed to finish.
    RunsToEnd,
}

/// Whether the tool can find out what happened to an interrupted call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeSupport {
    /// The tool has a probe.
    Supported,
    /// The tool has no probe: only a human can find out.
    #[default]
    Unsupported,
}

/// What produces the result of a call.
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
    /// The run journal of the conversation.
    Journal,
    /// Child runs (sub-agents) that are started for this call.
    Children,
}

/// How long a call may run if its tool does not set a timeout.
const DEFAULT_TIMEOUT_MS: u64 = 120_000;

/// What is assumed where a tool says nothing: the call has side effects, runs alone, once, and to
/// its end.
impl Default for CallFacts {
    fn default() -> Self {
        Self {
            touches: TouchedResources::Exclusive,
            repeat: Repeatability::OnceOnly,
            interrupt: Interruptibility::RunsToEnd,
            probe: ProbeSupport::Unsupported,
            answered_by: AnsweredBy::Tool,
            timeout_ms: DEFAULT_TIMEOUT_MS,
            problem: None,
            summary: None,
            subject: CallSubject::Nothing,
            journal: None,
            children: Vec::new(),
            children_in_background: false,
        }
    }
}

impl CallFacts {
    /// Facts of a call that was not assessed: it may not run.
    #[must_use]
    pub fn for_unknown_tool(tool: &str) -> Self {
        let problem = Some(ToolError::unknown_tool(tool));
        Self { timeout_ms: 0, problem, ..Self::default() }
    }

    /// Returns these facts with `subject` set.
    #[must_use]
    pub fn with_subject(mut self, subject: CallSubject) -> Self {
        self.subject = subject;
        self
    }

    /// Returns whether the call is read-only according to a trusted tool. An MCP server's own hint
    /// allows parallel runs, not repetition.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.touches.is_read() && self.is_repeatable()
    }

    /// Returns a call of `tool` with these facts, as permission rules see it. The journal and child
    /// runs belong to the runtime: what they do is decided there.
    #[must_use]
    pub fn permission_query<'a>(
        &'a self,
        tool: &'a str,
        grants: &'a [Grant],
        preference: HookPreference,
    ) -> PermissionQuery<'a> {
        let effect = match self.answered_by {
            AnsweredBy::Children => CallEffect::StartsAgents,
            AnsweredBy::Journal | AnsweredBy::PlanApproval => CallEffect::ReadOnly,
            AnsweredBy::Tool | AnsweredBy::Human if self.is_read_only() => CallEffect::ReadOnly,
            AnsweredBy::Tool | AnsweredBy::Human => CallEffect::MayChange,
        };
        PermissionQuery { tool, subject: &self.subject, effect, preference, grants }
    }

    /// Returns whether the call may be repeated without a question.
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        self.repeat == Repeatability::Repeatable
    }
}
