//! Replays the log of a state as if read from a file: it parses, folds to the state, and the same
//! version decides every entry again as it was recorded.

use windlass_core::{Conversation, Entry};

use super::invariants::BrokenInvariant;
use super::world::ExploredState;

const NAME: &str = "a log replays to the same state";

/// Replays the log of `world`.
pub(crate) fn check(world: &ExploredState) -> Result<(), BrokenInvariant> {
    let mut told = Conversation::default();
    let mut verified = Conversation::default();
    for entry in world.log() {
        let read = Entry::parse(entry.seq, &entry.encode());
        let read = read.map_err(|error| BrokenInvariant::new(NAME, &error))?;
        told.fold(&read).map_err(|error| BrokenInvariant::new(NAME, &error))?;
        verified.verify(&read).map_err(|error| BrokenInvariant::new(NAME, &error))?;
    }
    let same = world.newest().is_some_and(|stored| stored.conversation == told);
    if same { Ok(()) } else { Err(BrokenInvariant::new(NAME, &"the fold differs from the state")) }
}
