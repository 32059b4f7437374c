//! Error bodies of the Messages API.

use serde::Serialize;

use crate::server::rejection::RequestRejection;
use crate::server::sse::to_json_line;

#[derive(Serialize)]
pub(super) struct MessagesErrorBody<'a> {
    r#type: &'a str,
    error: MessagesErrorDetail<'a>,
    request_id: &'a str,
}

#[derive(Serialize)]
struct MessagesErrorDetail<'a> {
    r#type: &'a str,
    message: &'a str,
}

/// The body of a rejected request.
pub(in crate::server) fn encode_error_body(refusal: &RequestRejection, request_id: &str) -> String {
    to_json_line(&error_body(refusal, request_id))
}

pub(super) fn error_body<'a>(
    refusal: &'a RequestRejection,
    request_id: &'a str,
) -> MessagesErrorBody<'a> {
    let error =
        MessagesErrorDetail { r#type: error_type(refusal.status), message: &refusal.message };
    MessagesErrorBody { r#type: "error", error, request_id }
}

fn error_type(status: u16) -> &'static str {
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
