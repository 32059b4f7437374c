//! The log as a whole.

use windlass_core::conversation::Conversation;

use super::{Case, ensure};

/// The same version decides every input again and comes to the same records.
pub(super) fn verifies(case: &Case<'_>) -> Result<(), String> {
    for history in &case.histories {
        let mut now = Conversation::default();
        for step in &history.steps {
            now.verify(&step.entry).map_err(|error| format!("{}: {error}", history.lane()))?;
        }
    }
    Ok(())
}

pub(super) fn time_goes_on(case: &Case<'_>) -> Result<(), String> {
    for history in &case.histories {
        for step in &history.steps {
            let back = step.at() < step.before.at;
            ensure(!back, || format!("{} entry {}", history.lane(), step.entry.seq))?;
        }
    }
    Ok(())
}
