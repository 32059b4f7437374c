//! Errors of OpenAI and compatible servers. The shapes differ from server to server; whatever can
//! be found is used.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::call_error::CallError;
use crate::json::json_string;

/// The details of an error that a server reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ApiErrorDetails {
    pub(crate) kind: String,
    pub(crate) message: String,
    pub(crate) status: Option<u16>,
}

#[derive(Debug, Default, Deserialize)]
struct ChatErrorBody<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    code: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    detail: Option<&'a RawValue>,
}

/// Parses an error object, or whatever is in its place.
pub(crate) fn parse_api_error(json: &str) -> Option<ApiErrorDetails> {
    let raw: &RawValue = serde_json::from_str(json).ok()?;
    if let Some(text) = json_string::decode_raw_string(raw) {
        return Some(ApiErrorDetails { message: text.into_owned(), ..ApiErrorDetails::default() });
    }
    let error: ChatErrorBody<'_> = serde_json::from_str(json).ok()?;
    if let Some(inner) = error.error.filter(|inner| inner.get() != "null") {
        return parse_api_error(inner.get());
    }
    let words = |raw: Option<&RawValue>| raw.filter(|raw| raw.get() != "null").map(value_text);
    let code = words(error.code);
    let status = code.as_deref().and_then(|code| code.parse().ok());
    let kind = words(error.kind).into_iter().chain(code).collect::<Vec<_>>().join(" ");
    let message = words(error.message).or(words(error.detail))?;
    Some(ApiErrorDetails { kind, message, status })
}

fn value_text(raw: &RawValue) -> String {
    json_string::decode_raw_string(raw).unwrap_or(Cow::Borrowed(raw.get())).into_owned()
}

/// The error of an error event after a success status.
pub(crate) fn error_from_event(json: &str) -> CallError {
    let told = parse_api_error(json).unwrap_or_else(|| ApiErrorDetails {
        message: json.to_owned(),
        ..ApiErrorDetails::default()
    });
    let status = told.status.filter(|status| (400..600).contains(status));
    let status = status.unwrap_or_else(|| status_for_error_kind(&told.kind));
    CallError::ErrorEvent { status, kind: told.kind, message: told.message }
}

/// The HTTP status that an error of this kind has in an error response.
fn status_for_error_kind(kind: &str) -> u16 {
    let table: &[(&str, u16)] = &[
        ("context_length", 400),
        ("invalid_request", 400),
        ("invalid_prompt", 400),
        ("authentication", 401),
        ("invalid_api_key", 401),
        ("insufficient_quota", 402),
        ("permission", 403),
        ("not_found", 404),
        ("rate_limit", 429),
        ("overloaded", 503),
    ];
    table.iter().find(|(words, _)| kind.contains(words)).map_or(500, |(_, status)| *status)
}
