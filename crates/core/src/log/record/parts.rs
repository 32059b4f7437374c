//! Small types that records consist of.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::call::outcome::{CallResult, OutcomeKind};
use crate::guard::loop_detection::LoopDetectorTier;

/// Why a model call was abandoned.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AbandonCause {
    /// The process that made the call ended.
    OwnerEnded,
    /// The run was aborted.
    Cancelled,
    /// The hard time limit of the run was reached.
    TimeLimit,
    /// The call failed; the message of the provider.
    Failed(Arc<str>),
}

impl AbandonCause {
    /// Returns the message of a failure, or the code of any other cause.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::OwnerEnded => "owner_ended",
            Self::Cancelled => "cancelled",
            Self::TimeLimit => "time_limit",
            Self::Failed(message) => message,
        }
    }
}

/// Which tools a model call may call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model may call any tool, or none.
    #[default]
    Auto,
    /// The model may call no tool.
    NoTools,
    /// The model must call this tool.
    Tool(Arc<str>),
}

impl ToolChoice {
    /// Returns whether the model may choose freely.
    #[must_use]
    pub fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}

/// What rejected an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RejectionSource {
    /// The checklist of the completion gate.
    Checklist,
    /// A hook or the gate command.
    Hook,
    /// The judge.
    Judge,
    /// The answer schema.
    Schema,
    /// The drift guard: the reply continued with a turn that is not the model's.
    Drift,
}

/// A loop that was detected.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LoopFinding {
    /// The detector that fired.
    pub tier: LoopDetectorTier,
    /// The tool that is called in a loop.
    pub tool: Arc<str>,
}

/// A time limit of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeLimit {
    /// The run wraps up and ends.
    Soft,
    /// The run is ended at once.
    Hard,
}

/// Whether a call of a reply that still streams was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EarlyStart {
    /// The call runs.
    Started,
    /// The call waits for the whole reply, and calls that conflict with it wait too.
    Held,
}

/// Why an iteration exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transition {
    /// A prompt started it.
    Prompt,
    /// Tools ran and the model must see their results.
    #[serde(rename = "run_tools")]
    ToolResults,
    /// Text was truncated and continues.
    ContinueText,
    /// A call was truncated and must be issued again.
    ReissueToolUse,
    /// The reply was truncated; requested again with a larger cap.
    RaiseCap,
    /// A server turn is resumed.
    Resume,
    /// The output was dropped.
    Reprompt,
    /// A steering message arrived.
    Steer,
    /// The last model call failed with a transient error.
    Retry,
    /// The window was compacted.
    Compacted,
    /// The previous owner died during the model call.
    OwnerChanged,
    /// An answer was rejected.
    Rejected,
    /// A human gave guidance.
    Guidance,
    /// The soft time limit was reached: the model wraps up.
    WrapUp,
}

impl Transition {
    /// Returns the name of the transition, as the trace has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::ToolResults => "run_tools",
            Self::ContinueText => "continue_text",
            Self::ReissueToolUse => "reissue_tool_use",
            Self::RaiseCap => "raise_cap",
            Self::Resume => "resume",
            Self::Reprompt => "reprompt",
            Self::Steer => "steer",
            Self::Retry => "retry",
            Self::Compacted => "compacted",
            Self::OwnerChanged => "owner_changed",
            Self::Rejected => "rejected",
            Self::Guidance => "guidance",
            Self::WrapUp => "wrap_up",
        }
    }
}

/// What bounds the output of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputBound {
    /// The requested output cap.
    Cap,
    /// What the token budget still allows.
    Budget,
    /// What the dollar budget still allows.
    Money,
}

/// Whether a reply was truncated by the output limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truncation {
    /// The reply is complete.
    Complete,
    /// The reply was truncated.
    Truncated,
}

/// What the model sees of a finished call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedResult {
    /// What the tool returned, unchanged.
    Unchanged {},
    /// This result instead of the tool's.
    Replaced(CallResult),
}

impl RecordedResult {
    /// Returns the name of the outcome.
    #[must_use]
    pub fn outcome_name(&self) -> String {
        let kind = match self {
            Self::Unchanged {} => OutcomeKind::Done,
            Self::Replaced(result) => result.kind,
        };
        kind.as_str().to_owned()
    }
}

/// How a run is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopMode {
    /// The run stops at the next safe boundary; nothing is interrupted.
    Cancel,
    /// The run stops now; interruptible calls are interrupted.
    Abort,
}
