//! PostgreSQL's errors, sorted by what can be done about them, in the port's words.

use std::error::Error as _;
use std::io::ErrorKind;

use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};
use windlass_runtime::ports::StoreError;

use crate::valid::invalid;

/// Why a piece of work did not happen, or may not have.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It was judged and refused; asking again changes nothing.
    Refused(StoreError),
    /// Others were in the way and all of it was undone: it may simply be asked again.
    Again(StoreError),
    /// The connection is gone or silent. What was sent on it may have happened.
    Lost(StoreError),
    /// The server refused the statement and undid it.
    Server(Box<Fault>),
}

/// What the server said.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) code: SqlState,
    pub(super) constraint: Option<String>,
    pub(super) error: StoreError,
}

impl Trouble {
    /// What to say when nothing more is done about it.
    pub(super) fn into_error(self) -> StoreError {
        match self {
            Self::Refused(error) | Self::Again(error) | Self::Lost(error) => error,
            Self::Server(fault) => fault.error,
        }
    }

    pub(super) fn is_conflict_on(&self, name: &str) -> bool {
        matches!(self, Self::Server(fault) if fault.code == SqlState::UNIQUE_VIOLATION
            && fault.constraint.as_deref() == Some(name))
    }
}

/// How it is told that a server is there and has not finished starting.
const NOT_READY: &str = "it is not ready yet";

/// Whether waiting longer will help: somebody is there and says so.
pub(super) fn is_starting(error: &StoreError) -> bool {
    matches!(error, StoreError::Unreachable { reason, .. } if reason.starts_with(NOT_READY))
}

/// Sorts an error of the driver.
pub(super) fn sort(place: &str, error: &Error) -> Trouble {
    match error.as_db_error() {
        Some(said) => said_by_server(place, said),
        None => noticed_here(place, error),
    }
}

pub(super) fn silent(place: &str, waited_ms: u128) -> Trouble {
    unreachable(place, format!("no answer for {waited_ms} ms"))
}

pub(super) fn unreachable(place: &str, reason: String) -> Trouble {
    Trouble::Lost(StoreError::Unreachable { place: place.to_owned(), reason })
}

fn said_by_server(place: &str, said: &DbError) -> Trouble {
    let reason = said.message().to_owned();
    let code = said.code();
    let refused = |what: String| Trouble::Refused(invalid(what));
    match code.code() {
        "40001" | "40P01" | "57014" | "55P03" => Trouble::Again(busy(place, &reason)),
        "57P03" => unreachable(place, format!("{NOT_READY}: {reason}")),
        "57P01" | "57P02" | "57P05" | "25P03" | "40003" => unreachable(place, reason),
        "53300" => Trouble::Lost(crowded(place, &reason)),
        "26000" | "42P05" => Trouble::Lost(pooled(place)),
        "25006" => Trouble::Refused(StoreError::ReadOnly { place: place.to_owned() }),
        "28P01" | "28000" => refused(format!(
            "{place} refuses us ({reason}); correct the user and password in the address"
        )),
        "3D000" => refused(format!("{place}: {reason}; make it with createdb, or name another")),
        "42501" => refused(format!("{place}: {reason}; give this user the right, or name another")),
        "53100" => server(said, StoreError::Full { place: place.to_owned() }),
        "XX001" | "XX002" => {
            Trouble::Refused(StoreError::Corrupt { place: place.to_owned(), reason })
        }
        code if code.starts_with("08") => unreachable(place, reason),
        _ => server(said, StoreError::Broken { place: place.to_owned(), reason }),
    }
}

fn server(said: &DbError, error: StoreError) -> Trouble {
    let constraint = said.constraint().map(str::to_owned);
    Trouble::Server(Box::new(Fault { code: said.code().clone(), constraint, error }))
}

fn busy(place: &str, reason: &str) -> StoreError {
    StoreError::Broken { place: place.to_owned(), reason: reason.to_owned() }
}

fn crowded(place: &str, reason: &str) -> StoreError {
    invalid(format!(
        "{place} takes no more connections ({reason}); raise max_connections there, \
         or lower ?connections= in the address"
    ))
}

fn pooled(place: &str) -> StoreError {
    invalid(format!(
        "{place} forgets prepared statements, as pgbouncer does in transaction mode; \
         add ?prepared=off to the address"
    ))
}

/// The driver does not say which kind an error is of, except in its text.
fn noticed_here(place: &str, error: &Error) -> Trouble {
    let text = error.to_string();
    let reason = error.source().map_or_else(|| text.clone(), ToString::to_string);
    match text.split(':').next().unwrap_or_default() {
        "error performing TLS handshake" if !was_cut(error) => {
            Trouble::Refused(no_tls(place, &reason))
        }
        "authentication error" | "invalid configuration" => Trouble::Refused(invalid(format!(
            "{place} cannot be used as it is written ({reason}); correct the address"
        ))),
        kind if is_shape(kind) => {
            let place = place.to_owned();
            Trouble::Refused(StoreError::Corrupt { place, reason })
        }
        kind if kind.starts_with("error serializing parameter") => {
            Trouble::Refused(invalid(format!("{place}: a value cannot be sent ({reason})")))
        }
        _ => unreachable(place, reason),
    }
}

/// Whether a column held what no version of ours writes.
fn is_shape(kind: &str) -> bool {
    kind.starts_with("error deserializing column") || kind.starts_with("invalid column")
}

fn was_cut(error: &Error) -> bool {
    let io = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    io.is_some_and(|io| io.kind() != ErrorKind::InvalidData && io.kind() != ErrorKind::Other)
}

fn no_tls(place: &str, reason: &str) -> StoreError {
    invalid(format!(
        "{place} cannot be spoken to over TLS ({reason}); turn it on there, \
         name the certificate's root with sslrootcert=FILE, or choose another sslmode"
    ))
}
