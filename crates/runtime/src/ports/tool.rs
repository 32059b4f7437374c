//! Something a model can call.

use std::sync::Arc;

use super::{Heartbeat, Task};
use windlass_core::facts::Facts;
use windlass_core::ids::{CallId, LaneId};
use windlass_core::input::Finding;
use windlass_core::outcome::Outcome;
use windlass_core::permission::Subject;
use windlass_core::raw::Raw;
use windlass_core::settings::{Settings, ToolSpec};

/// A tool. Dropping the future of `run` ends the call: a tool that holds processes ends them then.
pub trait Tool: Send + Sync + 'static {
    /// How it is offered to the model.
    fn spec(&self) -> ToolSpec;

    /// What is known of a call before it runs: does the input fit, what does it touch, may it be
    /// repeated. Quick, and without effects.
    fn assess(&self, input: &Raw) -> Facts;

    /// The same for a call of the conversation on `lane`. A tool that keeps something for each
    /// conversation, such as the folder of its shell, judges by that.
    fn assess_on(&self, _lane: &LaneId, input: &Raw) -> Facts {
        self.assess(input)
    }

    /// Runs it.
    fn run(&self, context: CallContext, input: Raw) -> Task<'_, Outcome>;

    /// Finds out what became of a call that was interrupted.
    fn verify(&self, _context: CallContext, _input: Raw) -> Task<'_, Finding> {
        Box::pin(std::future::ready(Finding::Unknown {}))
    }

    /// Whether it works in the folder of the process. Conversations whose tools all say no are driven
    /// by any worker; the others only where their workspace is.
    fn needs_workspace(&self) -> bool {
        true
    }

    /// This process drives the conversation on `lane` no longer: what the tool keeps running for it
    /// ends. A parked conversation is not left.
    fn leave(&self, _lane: &LaneId) {}
}

/// What a tool is told about the call.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// The conversation's lane.
    pub lane: LaneId,
    /// The call's identity.
    pub call: CallId,
    /// Names this call for outside systems that can tell repeats: the same on every attempt.
    pub idempotency_key: Arc<str>,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// What the call was judged to be about. A tool whose input names files can look again whether
    /// they are still the same.
    pub subject: Subject,
    /// The settings of the run that the call belongs to: its rules may differ from those of the
    /// process.
    pub settings: Option<Arc<Settings>>,
    /// Says that a call which takes long still works.
    pub heart: Heartbeat,
}
