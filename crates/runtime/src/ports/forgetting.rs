//! What a store may forget.

use windlass_core::ids::Millis;

/// What is old enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forget {
    /// Raw responses from before this.
    pub raw_before: Millis,
    /// Rows of the trace, and events, from before this.
    pub trace_before: Millis,
    /// How many rows of each table are looked at, the oldest first.
    pub most: usize,
}

/// How many rows were forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Raw responses.
    pub raw: usize,
    /// Rows of the trace.
    pub trace: usize,
    /// Events.
    pub events: usize,
}

impl Forgotten {
    /// Whether there may be more.
    #[must_use]
    pub fn any(&self) -> bool {
        self.raw + self.trace + self.events > 0
    }
}
