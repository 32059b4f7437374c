//! Bounds of an exploration: how often each kind of choice may still happen, which makes it finite.

/// Remaining number of each kind of choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct RemainingChoices {
    pub(crate) prompts: u8,
    pub(crate) steers: u8,
    pub(crate) children: u8,
    pub(crate) answers: u8,
    pub(crate) cancels: u8,
    pub(crate) aborts: u8,
    /// Process deaths: every stored entry stays.
    pub(crate) crashes: u8,
    /// Power losses: entries after the last barrier may be gone.
    pub(crate) outages: u8,
    /// Owner changes with another prompt.
    pub(crate) drifts: u8,
    /// Settings offered between runs.
    pub(crate) offers: u8,
    pub(crate) forks: u8,
    /// Model calls that fail.
    pub(crate) failures: u8,
    /// Tool calls that fail.
    pub(crate) mishaps: u8,
    /// Blocks that become ready before their reply.
    pub(crate) blocks: u8,
    /// Instructions that are found during the run.
    pub(crate) memories: u8,
    /// Commands that request a compaction.
    pub(crate) compactions: u8,
    /// Tasks from a parent.
    pub(crate) tasks: u8,
    /// Sub-agent results that arrive late or twice.
    pub(crate) strays: u8,
    /// Changes of the permissions.
    pub(crate) updates: u8,
    /// Changes of the model.
    pub(crate) models: u8,
    /// Changes of the tools that servers offer.
    pub(crate) tool_lists: u8,
    /// Time limits that pass without a timer.
    pub(crate) lapses: u8,
}

/// Uses one up, if there is one left. Returns whether there was.
pub(crate) fn spend(left: &mut u8) -> bool {
    let some = *left > 0;
    *left = left.saturating_sub(1);
    some
}
