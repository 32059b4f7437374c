//! Where content of a result came from that others wrote, as its tool reports it.

use std::sync::{Arc, Mutex, PoisonError};

use windlass_core::permission::ContentSource;

/// Maximum sources that one call reports.
const MAX_SOURCES: usize = 20;

/// Takes the sources of untrusted content from a tool. Clones share what was reported.
#[derive(Debug, Clone, Default)]
pub struct SourceReporter(Arc<Mutex<Vec<ContentSource>>>);

impl SourceReporter {
    /// Reports that the result contains content from `source`.
    pub fn report(&self, source: ContentSource) {
        let mut sources = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sources.len() < MAX_SOURCES && !sources.contains(&source) {
            sources.push(source);
        }
    }

    /// Returns what was reported.
    #[must_use]
    pub fn reported(&self) -> Vec<ContentSource> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
