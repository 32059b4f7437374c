//! Reads the rows of the database directly, without the product's code.

mod postgres;
mod sqlite;

use std::fmt;
use std::path::PathBuf;

use anyhow::Result;
use serde_json::Value;

/// A lane as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredLane {
    /// The epoch: how often the lane changed its owner.
    pub(crate) epoch: i64,
    /// The sequence number of the last entry, as the lane's row has it.
    pub(crate) head: i64,
    /// The entries of the log, by position.
    pub(crate) entries: Vec<StoredEntry>,
    /// The number of unread inbox messages.
    pub(crate) waiting_mail: i64,
}

/// An entry as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredEntry {
    pub(crate) seq: i64,
    pub(crate) epoch: i64,
    pub(crate) body: Value,
}

impl StoredLane {
    /// Returns whether a prompt was sent: a sender creates the lane first and may die before it
    /// sends.
    pub(crate) fn has_prompt(&self) -> bool {
        self.waiting_mail > 0 || self.with_tag("prompt_queued/1").next().is_some()
    }
}

/// The location of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoreLocation {
    File(PathBuf),
    /// A database: its address through the fault-injecting proxy, and the direct one.
    Server {
        wired: String,
        direct: String,
    },
}

impl StoreLocation {
    /// Reads the lane of a conversation; `None` if no prompt for it was ever accepted.
    pub(crate) fn read_lane(&self, conversation: &str) -> Result<Option<StoredLane>> {
        let lane = match self {
            Self::File(path) => sqlite::read_lane(path, conversation),
            Self::Server { direct, .. } => postgres::read_lane(direct, conversation),
        };
        Ok(lane?.filter(StoredLane::has_prompt))
    }

    /// Reads the epoch of a lane, if that is possible at once; 0 if there is no such lane.
    pub(crate) fn read_epoch(&self, conversation: &str) -> Result<i64> {
        match self {
            Self::File(path) => sqlite::read_epoch(path, conversation),
            Self::Server { direct, .. } => postgres::read_epoch(direct, conversation),
        }
    }

    /// The conversations in the store.
    pub(crate) fn list_conversations(&self) -> Result<Vec<String>> {
        match self {
            Self::File(path) => sqlite::list_conversations(path),
            Self::Server { direct, .. } => postgres::list_conversations(direct),
        }
    }

    /// Checks the integrity of the store with its engine.
    pub(crate) fn check_integrity(&self) -> Result<()> {
        match self {
            Self::File(path) => sqlite::check_integrity(path),
            Self::Server { direct, .. } => postgres::list_conversations(direct).map(drop),
        }
    }
}

/// The location as an argument for the binary.
impl fmt::Display for StoreLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(formatter, "{}", path.display()),
            Self::Server { wired, .. } => formatter.write_str(wired),
        }
    }
}
