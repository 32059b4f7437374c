//! Hooks look at calls before and after they run. This crate has the port; hosts bring hooks.

use super::Task;
use windlass_core::call::Call;
use windlass_core::input::HookAnswer;
use windlass_core::outcome::Outcome;

/// Somebody who listens at the hook points.
pub trait Hooks: Send + Sync + 'static {
    /// Before the call is judged.
    fn before(&self, call: Call) -> Task<'_, HookAnswer>;

    /// After the call came back.
    fn after(&self, call: Call, outcome: Outcome) -> Task<'_, HookAnswer>;
}

/// Nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHooks;

impl Hooks for NoHooks {
    fn before(&self, _call: Call) -> Task<'_, HookAnswer> {
        Box::pin(std::future::ready(HookAnswer::Pass {}))
    }

    fn after(&self, _call: Call, _outcome: Outcome) -> Task<'_, HookAnswer> {
        Box::pin(std::future::ready(HookAnswer::Pass {}))
    }
}
