//! Errors as OpenAI and its kin tell them. The shapes differ from server to server; what can be
//! found is taken.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::fault::Fault;
use crate::lossless;

/// What a server says about an error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) kind: String,
    pub(crate) message: String,
    pub(crate) status: Option<u16>,
}

#[derive(Debug, Default, Deserialize)]
struct Error<'a> {
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

/// Reads an error object, or whatever stands in its place.
pub(crate) fn told(json: &str) -> Option<Told> {
    let raw: &RawValue = serde_json::from_str(json).ok()?;
    if let Some(text) = lossless::text(raw) {
        return Some(Told { message: text.into_owned(), ..Told::default() });
    }
    let error: Error<'_> = serde_json::from_str(json).ok()?;
    if let Some(inner) = error.error.filter(|inner| inner.get() != "null") {
        return told(inner.get());
    }
    let words = |raw: Option<&RawValue>| raw.filter(|raw| raw.get() != "null").map(said);
    let code = words(error.code);
    let status = code.as_deref().and_then(|code| code.parse().ok());
    let kind = words(error.kind).into_iter().chain(code).collect::<Vec<_>>().join(" ");
    let message = words(error.message).or(words(error.detail))?;
    Some(Told { kind, message, status })
}

fn said(raw: &RawValue) -> String {
    lossless::text(raw).unwrap_or(Cow::Borrowed(raw.get())).into_owned()
}

/// An error after the answer had been promised.
pub(crate) fn reported(json: &str) -> Fault {
    let told = told(json).unwrap_or_else(|| Told { message: json.to_owned(), ..Told::default() });
    let status = told.status.filter(|status| (400..600).contains(status));
    let status = status.unwrap_or_else(|| status_of(&told.kind));
    Fault::Reported { status, kind: told.kind, message: told.message }
}

/// The status an error of this kind has when it comes instead of an answer.
fn status_of(kind: &str) -> u16 {
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
