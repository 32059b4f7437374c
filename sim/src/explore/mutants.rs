//! Bugs planted one at a time, to see that the invariants find them.

use windlass_core::ids::Millis;
use windlass_core::wanted::Wanted;
use windlass_core::{Conversation, Input, Record};

/// A planted bug.
pub(crate) struct Mutant {
    pub(crate) name: &'static str,
    pub(crate) plant: Plant,
    /// Where it is looked for.
    pub(crate) configs: &'static [&'static str],
}

/// What a bug changes.
pub(crate) enum Plant {
    /// What `decide` settles.
    Records(fn(&Conversation, Millis, &Input, Vec<Record>) -> Vec<Record>),
    /// What `wanted` wants.
    Wanted(fn(&Conversation, Wanted) -> Wanted),
}
