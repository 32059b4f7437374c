//! What goes wrong with a store, in one sentence each that says what to do.

use windlass_core::ids::LaneId;

use super::finding::SeenBeat;

/// Why a store could not do it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Another owner has the lane: stop, end what is in the air, do not retry.
    #[error("lane {lane} has another owner; this one must stop")]
    Fenced {
        /// Which lane.
        lane: LaneId,
    },
    /// The lane has a living owner.
    #[error("lane {lane} is being driven by another process; wait, or send it mail")]
    Busy {
        /// Which lane.
        lane: LaneId,
        /// Who, and how alive.
        owner: SeenBeat,
    },
    /// There is no such lane.
    #[error("there is no conversation {}; list them with `windlass runs`", without_kind(lane))]
    NoLane {
        /// Which lane.
        lane: LaneId,
    },
    /// An argument that would corrupt the store.
    #[error("{what}")]
    Invalid {
        /// What is wrong and what to do.
        what: String,
    },
    /// The disk is full.
    #[error("the disk holding {place} is full; free some space, nothing was lost")]
    Full {
        /// Which file.
        place: String,
    },
    /// The store cannot be written.
    #[error("{place} is read-only; make it writable or choose another with --store")]
    ReadOnly {
        /// Which file.
        place: String,
    },
    /// Somebody else holds the store for too long.
    #[error("{place} stayed locked for {waited_ms} ms; end the program that holds it")]
    Locked {
        /// Which file.
        place: String,
        /// How long it was tried.
        waited_ms: u64,
    },
    /// The store is somewhere else, and nobody answers there.
    #[error("{place} cannot be reached ({reason}); start it or correct the address")]
    Unreachable {
        /// Which server.
        place: String,
        /// What was found.
        reason: String,
    },
    /// What is stored is damaged.
    #[error("{place} is damaged ({reason}); restore it from a copy, nothing was changed")]
    Corrupt {
        /// Which file.
        place: String,
        /// What was found.
        reason: String,
    },
    /// The store is of a newer version.
    #[error("{place} has schema {found}, this program knows {known}; upgrade windlass")]
    FromTheFuture {
        /// Which file.
        place: String,
        /// Its version.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// The store is of a version from before the first release.
    #[error(
        "{place} was made by a development version of windlass (schema {found}), which this one \
         cannot read; move it away, or choose another with --store"
    )]
    OlderSchema {
        /// Which file or database.
        place: String,
        /// Its version.
        found: i64,
    },
    /// It is not known whether the last append landed: the owner must reload.
    #[error("{place} failed ({reason}); reload the lane before going on")]
    Broken {
        /// Which file.
        place: String,
        /// What happened.
        reason: String,
    },
}

/// The id of a conversation without the word that says that it is one.
fn without_kind(lane: &LaneId) -> &str {
    lane.as_str().strip_prefix("conversation:").unwrap_or(lane.as_str())
}
