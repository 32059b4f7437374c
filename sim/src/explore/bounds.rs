//! How often each thing may still happen: what makes a walk finite.

/// What is left of each kind of choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Bounds {
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
    /// Owners that come with another prompt.
    pub(crate) drifts: u8,
    /// Settings offered between runs.
    pub(crate) offers: u8,
    pub(crate) forks: u8,
    /// Model calls that fail.
    pub(crate) failures: u8,
    /// Tool calls that do not end well.
    pub(crate) mishaps: u8,
    /// Blocks that become ready before their reply.
    pub(crate) blocks: u8,
    /// Instructions that are found on the way.
    pub(crate) memories: u8,
    /// Mails that want room to be made.
    pub(crate) compactions: u8,
    /// Tasks from a parent.
    pub(crate) tasks: u8,
    /// Children that come home late or twice.
    pub(crate) strays: u8,
    /// Times that pass without anybody noticing.
    pub(crate) lapses: u8,
}

/// Takes one, if there is one.
pub(crate) fn spend(left: &mut u8) -> bool {
    let some = *left > 0;
    *left = left.saturating_sub(1);
    some
}
