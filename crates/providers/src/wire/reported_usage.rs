//! Token counts as servers report them: absent, null, negative, a string, a fraction, implausible.
//!
//! An implausible figure must never lower what is counted for a call: it is treated as missing, and
//! a missing figure is estimated from the bytes that were sent and received.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::limits::MAX_PLAUSIBLE_TOKENS;

/// A count that may be missing. A figure that is negative, not an integer, or larger than any model
/// could have used is treated as missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TokenCount(pub(crate) Option<u64>);

impl TokenCount {
    pub(crate) fn value_or(self, other: u64) -> u64 {
        self.0.unwrap_or(other)
    }

    /// Returns the larger of two figures for the same count; a later figure may add to an earlier
    /// one and never lowers it.
    pub(crate) fn max_with(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }
}

impl<'de> Deserialize<'de> for TokenCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        Ok(Self(raw.get().parse().ok().filter(|tokens| *tokens <= MAX_PLAUSIBLE_TOKENS)))
    }
}

/// The usage of a call, as the server reports it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ReportedUsage {
    /// Input that was not cached.
    pub(crate) input: TokenCount,
    pub(crate) output: TokenCount,
    pub(crate) cache_read: TokenCount,
    pub(crate) cache_write: TokenCount,
}

impl ReportedUsage {
    /// Merges the figures of a later event.
    pub(crate) fn merge(&mut self, later: Self) {
        self.input = self.input.max_with(later.input);
        self.output = self.output.max_with(later.output);
        self.cache_read = self.cache_read.max_with(later.cache_read);
        self.cache_write = self.cache_write.max_with(later.cache_write);
    }
}
