//! Errors as the Messages API tells them, in a body or inside a stream.

use std::borrow::Cow;

use serde::Deserialize;

use crate::fault::Fault;

#[derive(Debug, Default, Deserialize)]
struct Error<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    message: Cow<'a, str>,
}

/// An error event after the answer had been promised.
pub(super) fn reported(error: &str) -> Fault {
    let Error { kind, message } = serde_json::from_str(error).unwrap_or_default();
    let status = status_of(&kind);
    Fault::Reported { status, kind: kind.into_owned(), message: message.into_owned() }
}

/// The status an error of this type has when it comes instead of an answer.
fn status_of(kind: &str) -> u16 {
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
