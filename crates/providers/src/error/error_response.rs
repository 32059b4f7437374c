//! Error responses: turns a status and a body into an error with advice.

use http::HeaderMap;
use windlass_core::log::ids::UnixMillis;

use crate::error::call_error::CallError;
use crate::error::retry_after;
use crate::wire::openai_chat::{ApiErrorDetails, parse_api_error};

/// The largest number of characters of a body that is not JSON which are quoted.
const MAX_QUOTED_BODY_CHARS: u64 = 300;

/// The error of a response with an error status.
pub(crate) fn status_error(
    status: u16,
    headers: &HeaderMap,
    body: &str,
    now: UnixMillis,
) -> CallError {
    let ApiErrorDetails { kind, message, .. } =
        parse_api_error(body).unwrap_or_else(|| describe_body(body));
    let retry_after_ms = retry_after_ms(headers, now);
    CallError::HttpStatus {
        status,
        kind,
        message,
        advice: advice_for_status(status),
        retry_after_ms,
    }
}

/// The error of a response with a success status that is not what was requested.
pub(crate) fn not_a_model_error(body: &str) -> CallError {
    let ApiErrorDetails { message, .. } = describe_body(body);
    CallError::NotAModelApi(format!(
        "the server answered with {message}; check that the base URL points to a model API"
    ))
}

fn describe_body(body: &str) -> ApiErrorDetails {
    let kind = "no error object".to_owned();
    let message = if is_html_page(body.as_bytes()) {
        let title = text_between(body, "<title>", "</title>").unwrap_or("untitled").trim();
        format!(
            "a web page ({})",
            windlass_core::message::truncate::truncate_text(title, MAX_QUOTED_BODY_CHARS)
        )
    } else if body.trim().is_empty() {
        "an empty body".to_owned()
    } else {
        format!(
            "the text: {}",
            windlass_core::message::truncate::truncate_text(body.trim(), MAX_QUOTED_BODY_CHARS)
        )
    };
    ApiErrorDetails { kind, message, status: None }
}

/// Returns whether a body is markup, as of a web page or an XML error: no wire format begins so.
pub(crate) fn is_markup(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"<")
}

/// Returns whether a body is a web page.
fn is_html_page(body: &[u8]) -> bool {
    let body = body.trim_ascii_start();
    let begins =
        |word: &[u8]| body.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    begins(b"<!doctype") || begins(b"<html")
}

fn text_between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(inside, _)| inside)
}

fn retry_after_ms(headers: &HeaderMap, now: UnixMillis) -> Option<u64> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let precise = text("retry-after-ms").and_then(|ms| ms.trim().parse().ok());
    precise.or_else(|| {
        text("retry-after").and_then(|after| retry_after::parse_retry_after_ms(after, now))
    })
}

fn advice_for_status(status: u16) -> &'static str {
    match status {
        300..=399 => "; the server redirects: set the base URL to the new location",
        401 => "; check the API key",
        402 => "; check the account's balance",
        403 => "; check the permissions of the API key",
        404 => "; check the model's name and the base URL",
        405 | 501 => "; check the base URL",
        _ => "",
    }
}
