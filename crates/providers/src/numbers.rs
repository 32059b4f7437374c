//! Numbers of tokens as servers write them: absent, null, absurd or a fraction.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A count that may be missing. What is no whole number is as good as missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) Option<u64>);

impl Count {
    pub(crate) fn or(self, other: u64) -> u64 {
        self.0.unwrap_or(other)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        Ok(Self(raw.get().parse().ok()))
    }
}
