//! Numbers of tokens as servers write them: absent, null, negative, a string, a fraction, absurd.
//!
//! A figure that cannot be true must never lower what a call is counted with: it is read as missing,
//! and a missing figure is estimated from the bytes that were sent and received.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::limits::BELIEVED_TOKENS;

/// A count that may be missing. A figure that is negative, not a whole number, or larger than any
/// model could have used is as good as missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) Option<u64>);

impl Count {
    pub(crate) fn or(self, other: u64) -> u64 {
        self.0.unwrap_or(other)
    }

    /// The larger of two figures for the same thing; a later one may add to an earlier one and
    /// never takes anything back.
    pub(crate) fn at_least(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        Ok(Self(raw.get().parse().ok().filter(|tokens| *tokens <= BELIEVED_TOKENS)))
    }
}

/// What a server says that a call used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ReportedUsage {
    /// Input that was not cached.
    pub(crate) input: Count,
    pub(crate) output: Count,
    pub(crate) cache_read: Count,
    pub(crate) cache_write: Count,
}

impl ReportedUsage {
    /// Adds what a later event says.
    pub(crate) fn update(&mut self, later: Self) {
        self.input = self.input.at_least(later.input);
        self.output = self.output.at_least(later.output);
        self.cache_read = self.cache_read.at_least(later.cache_read);
        self.cache_write = self.cache_write.at_least(later.cache_write);
    }
}
