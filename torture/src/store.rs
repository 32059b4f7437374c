//! The database, read past the product: its rows as they lie there.

mod postgres;
mod sqlite;

use std::fmt;
use std::path::PathBuf;

use anyhow::Result;
use serde_json::Value;

/// A lane as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lane {
    /// How often it changed owner.
    pub(crate) epoch: i64,
    /// Its last entry, by its own account.
    pub(crate) head: i64,
    /// Its log, by place.
    pub(crate) entries: Vec<Row>,
    /// Whether somebody wrote to it and was not heard yet.
    pub(crate) waiting_mail: i64,
}

/// An entry as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) seq: i64,
    pub(crate) epoch: i64,
    pub(crate) body: Value,
}

impl Lane {
    /// A sender makes the lane before it sends, and may die in between.
    pub(crate) fn was_spoken_to(&self) -> bool {
        self.waiting_mail > 0 || self.with_tag("queued/1").next().is_some()
    }
}

/// Where a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Where {
    File(PathBuf),
    /// A database: its address over the wire that is cut, and the one that is not.
    Server {
        wired: String,
        direct: String,
    },
}

impl Where {
    /// The lane of a conversation; none if no prompt for it was ever accepted.
    pub(crate) fn lane(&self, conversation: &str) -> Result<Option<Lane>> {
        let lane = match self {
            Self::File(path) => sqlite::lane(path, conversation),
            Self::Server { direct, .. } => postgres::lane(direct, conversation),
        };
        Ok(lane?.filter(Lane::was_spoken_to))
    }

    /// The epoch of a lane, if it can be read at once; 0 if there is no such lane.
    pub(crate) fn epoch(&self, conversation: &str) -> Result<i64> {
        match self {
            Self::File(path) => sqlite::epoch(path, conversation),
            Self::Server { direct, .. } => postgres::epoch(direct, conversation),
        }
    }

    /// The conversations in it.
    pub(crate) fn conversations(&self) -> Result<Vec<String>> {
        match self {
            Self::File(path) => sqlite::conversations(path),
            Self::Server { direct, .. } => postgres::conversations(direct),
        }
    }

    /// Whether the engine finds it sound.
    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Self::File(path) => sqlite::check(path),
            Self::Server { direct, .. } => postgres::conversations(direct).map(drop),
        }
    }
}

/// As the binary is told.
impl fmt::Display for Where {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(formatter, "{}", path.display()),
            Self::Server { wired, .. } => formatter.write_str(wired),
        }
    }
}
