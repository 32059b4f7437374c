//! Classifies PostgreSQL errors: rejected, retry, connection lost, server error.

use std::error::Error as _;
use std::io::ErrorKind;

use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};
use windlass_runtime::ports::StoreError;

use crate::validation::invalid_argument;

/// Why an operation failed, or may have failed.
#[derive(Debug)]
pub(super) enum PgError {
    /// The operation was checked and rejected; a retry changes nothing.
    Rejected(StoreError),
    /// A conflict with another transaction; everything was rolled back and can be retried.
    Retry(StoreError),
    /// The connection is closed or silent. What was sent on it may have been committed.
    ConnectionLost(StoreError),
    /// The server rejected the statement and rolled it back.
    Server(Box<PgServerError>),
}

/// The error that the server reported.
#[derive(Debug)]
pub(super) struct PgServerError {
    pub(super) code: SqlState,
    pub(super) constraint: Option<String>,
    pub(super) error: StoreError,
}

impl PgError {
    /// Converts to the error of the port, for the case that it is not retried.
    pub(super) fn into_error(self) -> StoreError {
        match self {
            Self::Rejected(error) | Self::Retry(error) | Self::ConnectionLost(error) => error,
            Self::Server(fault) => fault.error,
        }
    }

    pub(super) fn is_conflict_on(&self, name: &str) -> bool {
        matches!(self, Self::Server(fault) if fault.code == SqlState::UNIQUE_VIOLATION
            && fault.constraint.as_deref() == Some(name))
    }
}

/// The reason given for a server that is reachable and has not finished starting.
const NOT_READY_REASON: &str = "the server is starting";

/// Returns whether the server reports that it is starting, so that waiting longer will help.
pub(super) fn is_starting(error: &StoreError) -> bool {
    matches!(error, StoreError::Unreachable { reason, .. } if reason.starts_with(NOT_READY_REASON))
}

/// Classifies an error of the driver.
pub(super) fn classify_error(location: &str, error: &Error) -> PgError {
    match error.as_db_error() {
        Some(said) => classify_server_error(location, said),
        None => classify_client_error(location, error),
    }
}

pub(super) fn no_answer_error(location: &str, waited_ms: u128) -> PgError {
    unreachable_error(location, format!("no response for {waited_ms} ms"))
}

pub(super) fn unreachable_error(location: &str, reason: String) -> PgError {
    PgError::ConnectionLost(StoreError::Unreachable { location: location.to_owned(), reason })
}

fn classify_server_error(location: &str, error: &DbError) -> PgError {
    let reason = error.message().to_owned();
    let code = error.code();
    let refused = |what: String| PgError::Rejected(invalid_argument(what));
    match code.code() {
        "40001" | "40P01" | "57014" | "55P03" => PgError::Retry(busy_error(location, &reason)),
        "57P03" => unreachable_error(location, format!("{NOT_READY_REASON}: {reason}")),
        "57P01" | "57P02" | "57P05" | "25P03" | "40003" => unreachable_error(location, reason),
        "53300" => PgError::ConnectionLost(too_many_connections_error(location, &reason)),
        "26000" | "42P05" => PgError::ConnectionLost(pooled_connection_error(location)),
        "25006" => PgError::Rejected(StoreError::ReadOnly { location: location.to_owned() }),
        "28P01" | "28000" => refused(format!(
            "{location} rejected the login ({reason}); correct user and password in the address"
        )),
        "3D000" => refused(format!(
            "{location}: {reason}; create it with createdb, or use another database"
        )),
        "42501" => refused(format!(
            "{location}: {reason}; grant this user the privilege, or use another user"
        )),
        "53100" => server_error(error, StoreError::DiskFull { location: location.to_owned() }),
        "XX001" | "XX002" => {
            PgError::Rejected(StoreError::Corrupt { location: location.to_owned(), reason })
        }
        code if code.starts_with("08") => unreachable_error(location, reason),
        _ => server_error(error, StoreError::Broken { location: location.to_owned(), reason }),
    }
}

fn server_error(said: &DbError, error: StoreError) -> PgError {
    let constraint = said.constraint().map(str::to_owned);
    PgError::Server(Box::new(PgServerError { code: said.code().clone(), constraint, error }))
}

fn busy_error(location: &str, reason: &str) -> StoreError {
    StoreError::Broken { location: location.to_owned(), reason: reason.to_owned() }
}

fn too_many_connections_error(location: &str, reason: &str) -> StoreError {
    invalid_argument(format!(
        "{location} has no free connections ({reason}); raise max_connections on the server, \
         or lower ?connections= in the address"
    ))
}

fn pooled_connection_error(location: &str) -> StoreError {
    invalid_argument(format!(
        "{location} does not keep prepared statements (PgBouncer in transaction mode?); \
         add ?prepared=off to the address"
    ))
}

/// Classifies an error of the client side. The driver does not expose its kind, except in its text.
fn classify_client_error(location: &str, error: &Error) -> PgError {
    let text = error.to_string();
    let reason = error.source().map_or_else(|| text.clone(), ToString::to_string);
    match text.split(':').next().unwrap_or_default() {
        "error performing TLS handshake" if !is_connection_cut(error) => {
            PgError::Rejected(tls_error(location, &reason))
        }
        "authentication error" | "invalid configuration" => PgError::Rejected(invalid_argument(
            format!("{location} is not a usable address ({reason}); correct it"),
        )),
        kind if is_unexpected_shape(kind) => {
            let location = location.to_owned();
            PgError::Rejected(StoreError::Corrupt { location, reason })
        }
        kind if kind.starts_with("error serializing parameter") => PgError::Rejected(
            invalid_argument(format!("{location}: a value could not be encoded ({reason})")),
        ),
        _ => unreachable_error(location, reason),
    }
}

/// Returns whether a column held a value that no version of Windlass writes.
fn is_unexpected_shape(kind: &str) -> bool {
    kind.starts_with("error deserializing column") || kind.starts_with("invalid column")
}

fn is_connection_cut(error: &Error) -> bool {
    let io = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    let refused = [ErrorKind::InvalidData, ErrorKind::InvalidInput, ErrorKind::Other];
    io.is_some_and(|io| !refused.contains(&io.kind()))
}

fn tls_error(location: &str, reason: &str) -> StoreError {
    invalid_argument(format!(
        "TLS with {location} failed ({reason}); enable TLS on the server, \
         set sslrootcert=FILE to its CA, or use another sslmode"
    ))
}
