//! Something a model can call.

use std::sync::Arc;

use super::Task;
use windlass_core::facts::Facts;
use windlass_core::ids::CallId;
use windlass_core::input::Finding;
use windlass_core::outcome::Outcome;
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;

/// A tool. Dropping the future of `run` ends the call: a tool that holds processes ends them then.
pub trait Tool: Send + Sync + 'static {
    /// How it is offered to the model.
    fn spec(&self) -> ToolSpec;

    /// What is known of a call before it runs: does the input fit, what does it touch, may it be
    /// repeated. Quick, and without effects.
    fn assess(&self, input: &Raw) -> Facts;

    /// Runs it.
    fn run(&self, context: CallContext, input: Raw) -> Task<'_, Outcome>;

    /// Finds out what became of a call that was interrupted.
    fn verify(&self, _context: CallContext, _input: Raw) -> Task<'_, Finding> {
        Box::pin(std::future::ready(Finding::Unknown {}))
    }
}

/// What a tool is told about the call.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// The call's identity.
    pub call: CallId,
    /// Names this call for outside systems that can tell repeats: the same on every attempt.
    pub idempotency_key: Arc<str>,
    /// Which attempt this is, from 1.
    pub attempt: u32,
}
