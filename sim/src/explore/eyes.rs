//! The core as the explorer sees it: as it is, or with one bug planted.

use windlass_core::ids::Millis;
use windlass_core::wanted::Wanted;
use windlass_core::{Conversation, Entry, Input, decide, wanted};

use super::mutants::{Mutant, Plant, Told};

/// The three functions under test.
#[derive(Clone, Copy)]
pub(crate) struct Eyes<'a> {
    planted: Option<&'a Mutant>,
}

impl<'a> Eyes<'a> {
    /// The core as it is.
    pub(crate) fn honest() -> Self {
        Self { planted: None }
    }

    /// The core with a bug.
    pub(crate) fn planted(mutant: &'a Mutant) -> Self {
        Self { planted: Some(mutant) }
    }

    pub(crate) fn is_honest(&self) -> bool {
        self.planted.is_none()
    }

    /// What an input settles.
    pub(crate) fn decide(&self, c: &Conversation, at: Millis, input: Input) -> Option<Entry> {
        let mut records = decide(c, at, &input);
        if let Some(Plant::Records(alter)) = self.planted.map(|mutant| &mutant.plant) {
            records = alter(&Told { state: c, at, input: &input }, records);
        }
        let seq = c.head.saturating_add(1);
        (!records.is_empty()).then_some(Entry { seq, at, input, records })
    }

    /// What should be in the air.
    pub(crate) fn wanted(&self, c: &Conversation) -> Wanted {
        let wanted = wanted(c);
        match self.planted.map(|mutant| &mutant.plant) {
            Some(Plant::Wanted(alter)) => alter(c, wanted),
            Some(Plant::Records(_)) | None => wanted,
        }
    }
}
