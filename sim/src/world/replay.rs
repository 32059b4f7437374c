//! Replays the log of a failing seed: folds and decides every entry, without a model and without a
//! world.

use windlass_core::log::entry::{Entry, LogError};
use windlass_core::run::conversation::Conversation;

/// Why a printed log does not replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayError {
    /// Line number in the file.
    pub line: usize,
    /// The error in this line.
    pub error: LogError,
}

/// Verifies a printed log; returns how many entries it had. Lines that are not JSON objects are
/// remarks, and a remark that names a lane starts a log.
pub fn replay(text: &str) -> Result<u64, ReplayError> {
    let mut conversation = Conversation::default();
    let mut entries = 0;
    for (line, content) in (1..).zip(text.lines()) {
        if content.starts_with("# conversation:") {
            conversation = Conversation::default();
        } else if content.starts_with('{') {
            let at = conversation.head.saturating_add(1);
            let verified = Entry::parse(at, content).and_then(|entry| conversation.verify(&entry));
            verified.map_err(|error| ReplayError { line, error })?;
            entries += 1;
        }
    }
    Ok(entries)
}
