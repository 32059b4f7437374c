//! The core under test: unmodified, or with one planted bug.

use windlass_core::log::ids::UnixMillis;
use windlass_core::run::wanted::Wanted;
use windlass_core::{Conversation, Entry, Input, decide, wanted};

use super::mutants::{DecideCall, Mutant, Mutation};

/// The three functions under test.
#[derive(Clone, Copy)]
pub(crate) struct CoreUnderTest<'a> {
    planted: Option<&'a Mutant>,
}

impl<'a> CoreUnderTest<'a> {
    /// Returns the unmodified core.
    pub(crate) fn unmodified() -> Self {
        Self { planted: None }
    }

    /// Returns the core with a planted bug.
    pub(crate) fn with_mutant(mutant: &'a Mutant) -> Self {
        Self { planted: Some(mutant) }
    }

    pub(crate) fn is_unmodified(&self) -> bool {
        self.planted.is_none()
    }

    /// Returns the records that an input yields.
    pub(crate) fn decide(&self, c: &Conversation, at: UnixMillis, input: Input) -> Option<Entry> {
        let mut records = decide(c, at, &input);
        if let Some(Mutation::Records(alter)) = self.planted.map(|mutant| &mutant.plant) {
            records = alter(&DecideCall { state: c, at, input: &input }, records);
        }
        let seq = c.head.saturating_add(1);
        (!records.is_empty()).then_some(Entry { seq, at, input, records })
    }

    /// Returns the effects that should be in flight.
    pub(crate) fn wanted(&self, c: &Conversation) -> Wanted {
        let wanted = wanted(c);
        match self.planted.map(|mutant| &mutant.plant) {
            Some(Mutation::Wanted(alter)) => alter(c, wanted),
            Some(Mutation::Records(_)) | None => wanted,
        }
    }
}
