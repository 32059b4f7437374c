//! A message's content, which every format writes as a text or as a list of parts.

use serde::Deserialize;
use serde_json::value::RawValue;

/// Content as it was sent.
pub(super) enum Content<T> {
    Text(String),
    Parts(Vec<T>),
}

/// Reads content; what is neither a text nor a list is an error.
pub(super) fn read<'a, T: Deserialize<'a>>(
    content: &'a RawValue,
) -> Result<Content<T>, serde_json::Error> {
    match content.get().starts_with('"') {
        true => serde_json::from_str(content.get()).map(Content::Text),
        false => serde_json::from_str(content.get()).map(Content::Parts),
    }
}

/// Whether a tool's text tells of an error, for formats that have no flag for it.
pub(super) fn tells_of_an_error(text: &str) -> bool {
    begins_as_error(text) || has_error_member(text)
}

fn begins_as_error(text: &str) -> bool {
    let start = text.trim_start().as_bytes().get(..6).unwrap_or_default();
    start.eq_ignore_ascii_case(b"error:")
}

fn has_error_member(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Told<'a> {
        #[serde(borrow)]
        error: Option<&'a RawValue>,
    }
    let told = text.trim_start().starts_with('{').then(|| serde_json::from_str::<Told<'_>>(text));
    let error = told.and_then(Result::ok).and_then(|told| told.error);
    error.is_some_and(|error| error.get() != "false")
}
