//! JSON strings decoded from their exact text.
//!
//! A string that arrives in pieces is joined as escaped text, so that a surrogate pair that is
//! split between two pieces becomes whole again and nothing is escaped anew.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The text between the quotes, if the value is a string.
pub(crate) fn raw_string_contents(raw: &RawValue) -> Option<&str> {
    raw.get().strip_prefix('"')?.strip_suffix('"')
}

/// Decodes a string; lone surrogates become the replacement character. `None` for a value that is
/// not a string.
pub(crate) fn decode_raw_string(raw: &RawValue) -> Option<Cow<'_, str>> {
    decode_string(raw.get())
}

/// Decodes a string given as its JSON, quotes included.
pub(crate) fn decode_string(json: &str) -> Option<Cow<'_, str>> {
    let inside = json.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inside.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inside));
    }
    Some(Cow::Owned(decode_quoted(json)))
}

/// Decodes a string given as the text between its quotes.
pub(crate) fn decode_escaped(escaped: &str) -> String {
    decode_quoted(&format!("\"{escaped}\""))
}

fn decode_quoted(quoted: &str) -> String {
    match serde_json::from_str::<String>(quoted) {
        Ok(text) => text,
        Err(_) => {
            serde_json::from_str::<LossyString>(quoted).map(|lossy| lossy.0).unwrap_or_default()
        }
    }
}

/// Appends `text` as a JSON string.
pub(crate) fn push_string(out: &mut Vec<u8>, text: &str) {
    // Writing a string to memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}

/// Appends `text` escaped for the inside of a JSON string.
pub(crate) fn push_escaped(out: &mut Vec<u8>, text: &str) {
    let start = out.len();
    // Writing a string to memory cannot fail.
    let _ = serde_json::to_writer(&mut *out, text);
    out.pop();
    if start < out.len() {
        out.remove(start);
    }
}

struct LossyString(String);

impl<'de> Deserialize<'de> for LossyString {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LossyStringVisitor;
        impl serde::de::Visitor<'_> for LossyStringVisitor {
            type Value = LossyString;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<LossyString, E> {
                Ok(LossyString(String::from_utf8_lossy(bytes).into_owned()))
            }
        }
        deserializer.deserialize_bytes(LossyStringVisitor)
    }
}
