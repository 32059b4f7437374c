//! Errors of stores. Each message is one sentence that says what is wrong and what to do.

use windlass_core::log::ids::LaneId;

use super::lane_discovery::ObservedHeartbeat;

/// Why an operation of a store failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Another owner has the lane: stop, abort the effects in flight, do not retry.
    #[error("lane {lane} was taken over by another process; this process must stop driving it")]
    Fenced {
        /// The lane that was taken over.
        lane: LaneId,
    },
    /// The lane has a living owner.
    #[error(
        "{lane} has an active run in another process; cancel it first with `windlass cancel {lane}`"
    )]
    Busy {
        /// The lane that was to be claimed.
        lane: LaneId,
        /// The owner and its heartbeat count.
        owner: ObservedHeartbeat,
    },
    /// There is no such lane.
    #[error("no conversation {}; list them with `windlass runs`", conversation_id(lane))]
    LaneNotFound {
        /// The lane that was asked for.
        lane: LaneId,
    },
    /// An argument would corrupt the store.
    #[error("{message}")]
    Invalid {
        /// What is wrong and what to do.
        message: String,
    },
    /// A limit of the tenant is reached.
    #[error("{message}")]
    LimitReached {
        /// Which limit, and what to do.
        message: String,
    },
    /// The disk is full.
    #[error("the disk holding {location} is full; free some space, nothing was lost")]
    DiskFull {
        /// The file that could not be written.
        location: String,
    },
    /// The store cannot be written.
    #[error("{location} is read-only; make it writable or choose another with --store")]
    ReadOnly {
        /// The file that is read-only.
        location: String,
    },
    /// Another process has held the lock of the store for too long.
    #[error("{location} stayed locked for {waited_ms} ms; end the program that holds it")]
    Locked {
        /// The file that is locked.
        location: String,
        /// How long the lock was waited for, in milliseconds.
        waited_ms: u64,
    },
    /// The server of the store does not respond.
    #[error("{location} cannot be reached ({reason}); start it or correct the address")]
    Unreachable {
        /// The server that was tried.
        location: String,
        /// What went wrong.
        reason: String,
    },
    /// Stored data is damaged.
    #[error("{location} is damaged ({reason}); restore it from a copy, nothing was changed")]
    Corrupt {
        /// The file that is damaged.
        location: String,
        /// What was found.
        reason: String,
    },
    /// The schema of the store is newer than this program.
    #[error("{location} has schema {found}, this program knows {known}; upgrade windlass")]
    NewerSchema {
        /// The file with the newer schema.
        location: String,
        /// The schema version of the store.
        found: i64,
        /// The newest schema version known to this program.
        known: i64,
    },
    /// The store was made by a development version from before the first release.
    #[error(
        "{location} was made by a development version of windlass (schema {found}), which this one \
         cannot read; move it away, or choose another with --store"
    )]
    OlderSchema {
        /// The file or database with the old schema.
        location: String,
        /// The schema version of the store.
        found: i64,
    },
    /// The outcome of the last append is unknown: the owner must reload the lane.
    #[error("{location} failed ({reason}); reload the lane before going on")]
    Broken {
        /// The file or server of the store.
        location: String,
        /// What went wrong.
        reason: String,
    },
}

/// The id of a conversation without the prefix that marks the lane as one.
fn conversation_id(lane: &LaneId) -> &str {
    lane.as_str().strip_prefix("conversation:").unwrap_or(lane.as_str())
}
