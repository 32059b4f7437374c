//! Errors in the service's words.

use serde::Serialize;

use super::super::refusal::Refusal;
use super::super::sse::json;

#[derive(Serialize)]
pub(super) struct Body<'a> {
    r#type: &'a str,
    error: Error<'a>,
    request_id: &'a str,
}

#[derive(Serialize)]
struct Error<'a> {
    r#type: &'a str,
    message: &'a str,
}

/// The body of a refused request.
pub(in super::super) fn error(refusal: &Refusal, request_id: &str) -> String {
    json(&body(refusal, request_id))
}

pub(super) fn body<'a>(refusal: &'a Refusal, request_id: &'a str) -> Body<'a> {
    let error = Error { r#type: kind(refusal.status), message: &refusal.message };
    Body { r#type: "error", error, request_id }
}

fn kind(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500..=599 => "api_error",
        _ => "invalid_request_error",
    }
}
