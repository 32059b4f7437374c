//! What a handler leaves to do next. Handlers return it instead of calling one another; the loop in
//! `decide.rs` follows it until nothing is left to do without the outside world.

use std::sync::Arc;

use crate::log::record::Transition;
use crate::stop::StopCause;

/// What follows within the same decision.
#[must_use]
pub(super) enum NextStep {
    /// Nothing: the run waits for something outside, or there is no run.
    Wait,
    /// Call the model, unless something stops the run first.
    AskModel(ModelAsk),
    /// Call the model, which must call this tool; everything was checked.
    StartForcedCall { transition: Transition, tool: Arc<str> },
    /// Advance the open round of tool calls.
    AdvanceRound,
    /// Check the answer that the model gave, then finish the run.
    CompleteAnswer(StopCause),
    /// Start the first queued prompt, if no run is active.
    StartNextPrompt,
}

/// A model call that should be made.
pub(super) struct ModelAsk {
    pub(super) transition: Transition,
    pub(super) kind: AskKind,
}

/// What is special about a model call.
pub(super) enum AskKind {
    /// Nothing. A compaction comes first if it is needed.
    Regular,
    /// The call follows a round with a fatal error.
    AfterFatalRound,
    /// The window was just compacted; it is not measured again.
    AfterCompaction,
    /// The model must call this tool, if the tool is offered and no compaction is needed.
    ForcingTool(Arc<str>),
    /// The reply may have this many tokens. A wrap-up turn is not a retry of the turn before, so
    /// it keeps its usual cap.
    WithCap(u64),
}

impl NextStep {
    /// Returns the step that calls the model.
    pub(super) fn ask_model(transition: Transition) -> Self {
        Self::AskModel(ModelAsk { transition, kind: AskKind::Regular })
    }

    /// Returns the step that calls the model in a special way.
    pub(super) fn ask_model_as(transition: Transition, kind: AskKind) -> Self {
        Self::AskModel(ModelAsk { transition, kind })
    }
}
