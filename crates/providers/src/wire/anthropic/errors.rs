//! Errors of the Messages API, in a body or inside a stream.

use std::borrow::Cow;

use serde::Deserialize;

use crate::error::call_error::CallError;

#[derive(Debug, Default, Deserialize)]
struct MessagesError<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    message: Cow<'a, str>,
}

/// The error of an error event after a success status.
pub(super) fn error_from_event(error: &str) -> CallError {
    let MessagesError { kind, message } = serde_json::from_str(error).unwrap_or_default();
    let status = status_for_error_type(&kind);
    CallError::ErrorEvent { status, kind: kind.into_owned(), message: message.into_owned() }
}

/// The HTTP status that an error of this type has in an error response.
fn status_for_error_type(kind: &str) -> u16 {
    match kind {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => 500,
    }
}
