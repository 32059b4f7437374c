//! Errors in OpenAI's words, for both of its formats.

use serde::Serialize;

use super::super::refusal::Refusal;
use super::super::sse::json;

#[derive(Serialize)]
pub(super) struct Body<'a> {
    error: Error<'a>,
}

#[derive(Serialize)]
struct Error<'a> {
    message: &'a str,
    r#type: &'a str,
    param: Option<&'a str>,
    code: Option<&'a str>,
}

/// The body of a refused request.
pub(in super::super) fn error(refusal: &Refusal) -> String {
    json(&body(refusal))
}

pub(super) fn body(refusal: &Refusal) -> Body<'_> {
    let error = Error {
        message: &refusal.message,
        r#type: kind(refusal.status),
        param: refusal.param.as_deref(),
        code: code(refusal),
    };
    Body { error }
}

/// What is not JSON at all, and JSON of the wrong shape.
pub(in super::super) fn parse_error(error: &serde_json::Error) -> Refusal {
    match error.is_data() {
        true => Refusal::invalid(format!("Invalid request: {error}")).coded("invalid_type"),
        false => Refusal::invalid(format!(
            "We could not parse the JSON body of your request. (HINT: This likely means you aren't \
             using your HTTP library correctly. The OpenAI API expects a JSON payload, but what \
             was sent was not valid JSON: {error}.)"
        )),
    }
}

/// The error's own word, if it has one.
pub(in super::super) fn code(refusal: &Refusal) -> Option<&'static str> {
    refusal.code.or(match refusal.status {
        401 => Some("invalid_api_key"),
        404 => Some("not_found"),
        413 => Some("request_too_large"),
        429 => Some("rate_limit_exceeded"),
        500..=599 => Some("server_error"),
        _ => None,
    })
}

fn kind(status: u16) -> &'static str {
    match status {
        429 => "rate_limit_error",
        500..=599 => "server_error",
        _ => "invalid_request_error",
    }
}
