//! Retention: which old rows a store may delete.

use windlass_core::log::ids::UnixMillis;

/// The cut-off times before which rows are deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionCutoffs {
    /// Raw responses from before this time are deleted.
    pub raw_before: UnixMillis,
    /// Trace rows and events from before this time are deleted.
    pub trace_before: UnixMillis,
    /// The number of rows of each table that are examined, oldest first.
    pub limit: usize,
}

/// The numbers of deleted rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeletedRows {
    /// Deleted raw responses.
    pub raw: usize,
    /// Deleted trace rows.
    pub trace: usize,
    /// Deleted events.
    pub events: usize,
}

impl DeletedRows {
    /// Returns whether rows were deleted; then there may be more to delete.
    #[must_use]
    pub fn has_any(&self) -> bool {
        self.raw + self.trace + self.events > 0
    }
}
