//! Error bodies of OpenAI, for both of its formats.

use serde::Serialize;

use crate::server::rejection::RequestRejection;
use crate::server::sse::to_json_line;

#[derive(Serialize)]
pub(super) struct ChatErrorDocument<'a> {
    error: ChatErrorDetail<'a>,
}

#[derive(Serialize)]
struct ChatErrorDetail<'a> {
    message: &'a str,
    r#type: &'a str,
    param: Option<&'a str>,
    code: Option<&'a str>,
}

/// The body of a rejected request.
pub(in crate::server) fn encode_error_body(refusal: &RequestRejection) -> String {
    to_json_line(&error_body(refusal))
}

pub(super) fn error_body(refusal: &RequestRejection) -> ChatErrorDocument<'_> {
    let error = ChatErrorDetail {
        message: &refusal.message,
        r#type: error_type(refusal.status),
        param: refusal.param.as_deref(),
        code: error_code(refusal),
    };
    ChatErrorDocument { error }
}

/// The rejection of a body that is not JSON, or JSON of the wrong shape.
pub(in crate::server) fn rejection_for_invalid_json(error: &serde_json::Error) -> RequestRejection {
    match error.is_data() {
        true => {
            RequestRejection::invalid(format!("Invalid request: {error}")).with_code("invalid_type")
        }
        false => RequestRejection::invalid(format!(
            "We could not parse the JSON body of your request. (HINT: This likely means you aren't \
             using your HTTP library correctly. The OpenAI API expects a JSON payload, but what \
             was sent was not valid JSON: {error}.)"
        )),
    }
}

/// The code of the error, if it has one.
pub(in crate::server) fn error_code(refusal: &RequestRejection) -> Option<&'static str> {
    refusal.code.or(match refusal.status {
        401 => Some("invalid_api_key"),
        404 => Some("not_found"),
        413 => Some("request_too_large"),
        429 => Some("rate_limit_exceeded"),
        500..=599 => Some("server_error"),
        _ => None,
    })
}

fn error_type(status: u16) -> &'static str {
    match status {
        429 => "rate_limit_error",
        500..=599 => "server_error",
        _ => "invalid_request_error",
    }
}
