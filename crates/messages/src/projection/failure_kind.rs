//! The kind of a failed model call, as the SDKs name it.

use windlass_core::log::input::Input;

/// Returns the name of a failure by its HTTP status.
pub(super) fn name_of(status: Option<u16>) -> &'static str {
    match status {
        Some(400 | 413 | 422) => "invalid_request",
        Some(401 | 403) => "authentication_failed",
        Some(402) => "billing_error",
        Some(404) => "model_not_found",
        Some(429) => "rate_limit",
        Some(529) => "overloaded",
        Some(500..) => "server_error",
        Some(_) | None => "unknown",
    }
}

/// Returns the HTTP status of the failed call, if a server responded at all.
pub(super) fn http_status(input: &Input) -> Option<u16> {
    match input {
        Input::ModelFailed { failure, .. } => leading_status(&failure.message),
        _ => None,
    }
}

/// Returns the HTTP status at the beginning of an error message.
pub(super) fn leading_status(message: &str) -> Option<u16> {
    let first = message.split(|c: char| !c.is_ascii_digit()).next()?;
    first.parse().ok().filter(|status| (400..600).contains(status))
}
