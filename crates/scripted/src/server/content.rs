//! The content of a message, which every format writes as a text or as a list of parts.

use serde::Deserialize;
use serde_json::value::RawValue;

/// Content as it was sent.
pub(super) enum MessageContent<T> {
    Text(String),
    Parts(Vec<T>),
}

/// Parses content; a value that is neither a text nor a list is an error.
pub(super) fn parse_content<'a, T: Deserialize<'a>>(
    content: &'a RawValue,
) -> Result<MessageContent<T>, serde_json::Error> {
    match content.get().starts_with('"') {
        true => serde_json::from_str(content.get()).map(MessageContent::Text),
        false => serde_json::from_str(content.get()).map(MessageContent::Parts),
    }
}

/// Returns whether the text of a tool result is an error, for formats that have no flag for it.
pub(super) fn is_error_text(text: &str) -> bool {
    has_error_prefix(text) || has_error_member(text)
}

fn has_error_prefix(text: &str) -> bool {
    let start = text.trim_start().as_bytes().get(..6).unwrap_or_default();
    start.eq_ignore_ascii_case(b"error:")
}

fn has_error_member(text: &str) -> bool {
    #[derive(Deserialize)]
    struct ErrorMember<'a> {
        #[serde(borrow)]
        error: Option<&'a RawValue>,
    }
    let told =
        text.trim_start().starts_with('{').then(|| serde_json::from_str::<ErrorMember<'_>>(text));
    let error = told.and_then(Result::ok).and_then(|told| told.error);
    error.is_some_and(|error| error.get() != "false")
}
