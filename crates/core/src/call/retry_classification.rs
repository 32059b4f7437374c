//! Retry classification of tool errors: network time-outs, refused connections, HTTP 429 and 5xx
//! are transient. A call that fails with a transient error is retried if its tool declares that a
//! repeat does no harm.

use std::io;

use crate::call::outcome::ToolError;

impl ToolError {
    /// Returns the failure for an input or output error. Time-outs and lost or refused connections
    /// are transient; all others are permanent.
    ///
    /// ```
    /// use std::io::{Error, ErrorKind};
    /// use windlass_core::call::outcome::ToolError;
    ///
    /// let refused = Error::from(ErrorKind::ConnectionRefused);
    /// let error = ToolError::from_io(&refused, "check that the server runs");
    /// assert_eq!((&*error.code, error.transient), ("connection_refused", true));
    /// ```
    #[must_use]
    pub fn from_io(error: &io::Error, hint: &str) -> Self {
        let failure = Self::new(code_of(error.kind()), &error.to_string(), hint).without_trace();
        Self { transient: is_transient(error.kind()), ..failure }
    }

    /// Returns the failure for an HTTP status. 429 and 5xx are transient; all others are permanent.
    ///
    /// ```
    /// use windlass_core::call::outcome::ToolError;
    ///
    /// let error = ToolError::from_http_status(503, "try another source");
    /// assert_eq!((&*error.code, error.transient), ("http_503", true));
    /// assert!(!ToolError::from_http_status(404, "look elsewhere").transient);
    /// ```
    #[must_use]
    pub fn from_http_status(status: u16, hint: &str) -> Self {
        let message = format!("the server answered with HTTP status {status}");
        let failure = Self::new(&format!("http_{status}"), &message, hint);
        Self { transient: status == 429 || (500..=599).contains(&status), ..failure }
    }
}

/// Returns whether an error of this kind is transient.
pub(crate) fn is_transient(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::TimedOut
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::NetworkDown
    )
}

/// Codes of the error kinds that a model can act on; every other kind is an `io_error`.
const CODES: &[(io::ErrorKind, &str)] = &[
    (io::ErrorKind::TimedOut, "timed_out"),
    (io::ErrorKind::ConnectionRefused, "connection_refused"),
    (io::ErrorKind::ConnectionReset, "connection_reset"),
    (io::ErrorKind::ConnectionAborted, "connection_aborted"),
    (io::ErrorKind::HostUnreachable, "host_unreachable"),
    (io::ErrorKind::NetworkUnreachable, "network_unreachable"),
    (io::ErrorKind::NetworkDown, "network_down"),
    (io::ErrorKind::NotFound, "not_found"),
    (io::ErrorKind::PermissionDenied, "permission_denied"),
];

fn code_of(kind: io::ErrorKind) -> &'static str {
    CODES.iter().find(|(known, _)| *known == kind).map_or("io_error", |(_, code)| code)
}

#[cfg(test)]
#[path = "retry_classification_tests.rs"]
mod tests;
