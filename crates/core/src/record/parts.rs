//! The small words records are made of.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::outcome::{OutcomeKind, Shown};
use crate::thrash::Tier;

/// Which tools a model call may call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// Any, or none.
    #[default]
    Open,
    /// None.
    Nothing,
    /// This one.
    Only(Arc<str>),
}

impl ToolChoice {
    /// Whether the model is free.
    #[must_use]
    pub fn is_open(&self) -> bool {
        *self == Self::Open
    }
}

/// What rejected an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    /// The checklist.
    Checklist,
    /// A hook or the gate's command.
    Hook,
    /// A judge.
    Judge,
    /// The schema.
    Schema,
    /// The drift guard: the reply went on to write a turn that is not the model's.
    Drift,
}

/// What the watch for circles found.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Found {
    /// Which detector.
    pub tier: Tier,
    /// Which tool goes in circles.
    pub tool: Arc<str>,
}

/// A time a run may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeLimit {
    /// The run sums up and ends.
    Soft,
    /// The run is ended.
    Hard,
}

/// Whether a call of a reply that still streams was let go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Launch {
    /// It runs.
    Launched,
    /// It waits for the whole reply, and calls that conflict with it wait too.
    Held,
}

/// Why an iteration exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transition {
    /// A prompt began it.
    Prompt,
    /// Tools were run and their results are to be read.
    #[serde(rename = "run_tools")]
    ToolResults,
    /// Text was cut and goes on.
    ContinueText,
    /// A call was cut and is to be issued again.
    ReissueToolUse,
    /// The reply was cut; asked again with a larger cap.
    RaiseCap,
    /// A server turn is resumed.
    Resume,
    /// The output was thrown away.
    Reprompt,
    /// A person said something more.
    Steer,
    /// The last call failed in passing.
    Retry,
    /// Room was made.
    Compacted,
    /// The last owner died while the model was asked.
    Adopted,
    /// An answer was rejected.
    Rejected,
    /// A human said how to go on.
    Guided,
    /// The time is up: the model sums up.
    SumUp,
}

/// What bounds the output of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputBound {
    /// The cap asked for.
    Cap,
    /// What the budget of tokens can still pay for.
    Budget,
    /// What the budget of money can still pay for.
    Money,
}

/// Whether a reply was cut by the output limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truncation {
    /// It is whole.
    Whole,
    /// It was cut.
    Cut,
}

/// What the model sees of a settled call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settlement {
    /// What the tool brought back, unchanged.
    AsCompleted {},
    /// This.
    Shown(Shown),
}

impl Settlement {
    /// The outcome's name.
    #[must_use]
    pub fn name(&self) -> String {
        let kind = match self {
            Self::AsCompleted {} => OutcomeKind::Done,
            Self::Shown(shown) => shown.kind,
        };
        kind.as_str().to_owned()
    }
}

/// How a run is asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// At the next safe boundary; nothing is interrupted.
    Cancel,
    /// Now; what may be interrupted is.
    Abort,
}
