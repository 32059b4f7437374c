//! Which calls may run in parallel. Each tool states what a call touches; calls that conflict keep
//! the order in which the model listed them, all others run in parallel.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The resources that a call touches.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TouchedResources {
    /// The call only reads these resources.
    Reads(Vec<Arc<str>>),
    /// The call changes these resources.
    Writes(Vec<Arc<str>>),
    /// The call may touch anything and runs alone. The default for a tool that states nothing.
    Exclusive,
}

impl TouchedResources {
    /// Returns whether the outcome could depend on which of the two calls runs first.
    #[must_use]
    pub fn conflicts_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Exclusive, _) | (_, Self::Exclusive) => true,
            (Self::Reads(_), Self::Reads(_)) => false,
            (Self::Reads(a) | Self::Writes(a), Self::Reads(b) | Self::Writes(b)) => {
                a.iter().any(|key| b.iter().any(|other| overlaps(key, other)))
            }
        }
    }

    /// Returns whether the call changes nothing.
    #[must_use]
    pub fn is_read(&self) -> bool {
        matches!(self, Self::Reads(_))
    }
}

/// Returns whether two keys overlap. Keys are paths of `/`-separated parts; a folder overlaps with
/// everything beneath it.
fn overlaps(a: &str, b: &str) -> bool {
    let (a, b) = (a.trim_end_matches('/'), b.trim_end_matches('/'));
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
