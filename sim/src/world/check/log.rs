//! Checks of the log as a whole.

use windlass_core::run::conversation::Conversation;

use super::{CheckedWorld, ensure};

/// The same version decides every input again with the same records.
pub(super) fn verifies(case: &CheckedWorld<'_>) -> Result<(), String> {
    for history in &case.histories {
        let mut now = Conversation::default();
        for step in &history.steps {
            now.verify(&step.entry).map_err(|error| format!("{}: {error}", history.lane()))?;
        }
    }
    Ok(())
}

pub(super) fn time_goes_on(case: &CheckedWorld<'_>) -> Result<(), String> {
    for history in &case.histories {
        for step in &history.steps {
            let back = step.at() < step.before.at;
            ensure(!back, || format!("{} entry {}", history.lane(), step.entry.seq))?;
        }
    }
    Ok(())
}
