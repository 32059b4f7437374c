//! Hooks look at prompts, calls, answers and compactions. This crate has the port; hosts bring hooks.

use std::sync::Arc;

use super::Task;
use windlass_core::Conversation;
use windlass_core::call::Call;
use windlass_core::counsel::{Advice, Counsel};
use windlass_core::input::HookAnswer;
use windlass_core::outcome::Outcome;

/// Somebody who listens at the hook points.
pub trait Hooks: Send + Sync + 'static {
    /// Before the call is judged.
    fn before(&self, call: Call) -> Task<'_, Heard>;

    /// After the call came back.
    fn after(&self, call: Call, outcome: Outcome) -> Task<'_, Heard>;

    /// A run is about to send its prompt, to end with its answer, or to leave old messages out.
    fn counsel(&self, _about: Counsel, _conversation: Conversation) -> Task<'_, Advice> {
        Box::pin(std::future::ready(Advice::Pass { context: None }))
    }
}

/// What a hook said about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// Its answer.
    pub answer: HookAnswer,
    /// Something the model should know.
    pub context: Option<Arc<str>>,
}

impl From<HookAnswer> for Heard {
    fn from(answer: HookAnswer) -> Self {
        Self { answer, context: None }
    }
}

/// Nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHooks;

impl Hooks for NoHooks {
    fn before(&self, _call: Call) -> Task<'_, Heard> {
        Box::pin(std::future::ready(HookAnswer::Pass {}.into()))
    }

    fn after(&self, _call: Call, _outcome: Outcome) -> Task<'_, Heard> {
        Box::pin(std::future::ready(HookAnswer::Pass {}.into()))
    }
}
