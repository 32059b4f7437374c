//! JSON strings read from their exact text.
//!
//! A string that arrives in pieces is put together from its escaped text, so that a pair of
//! surrogates torn between two pieces becomes whole again and nothing is escaped anew.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// What stands between the quotes, if the value is a string.
pub(crate) fn escaped(raw: &RawValue) -> Option<&str> {
    raw.get().strip_prefix('"')?.strip_suffix('"')
}

/// The text of a string; surrogates that stand alone read as the replacement character. A value
/// that is no string has no text.
pub(crate) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    text_of(raw.get())
}

/// The same of a value given as its JSON.
pub(crate) fn text_of(json: &str) -> Option<Cow<'_, str>> {
    let inside = json.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inside.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inside));
    }
    Some(Cow::Owned(unescaped(json)))
}

/// The text of a string given as what stands between its quotes.
pub(crate) fn text_of_escaped(escaped: &str) -> String {
    unescaped(&format!("\"{escaped}\""))
}

fn unescaped(quoted: &str) -> String {
    match serde_json::from_str::<String>(quoted) {
        Ok(text) => text,
        Err(_) => serde_json::from_str::<Lossy>(quoted).map(|lossy| lossy.0).unwrap_or_default(),
    }
}

/// `text` as a JSON string, appended.
pub(crate) fn push_string(out: &mut Vec<u8>, text: &str) {
    // Writing a string to memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}

/// `text` escaped for the inside of a JSON string, appended.
pub(crate) fn push_escaped(out: &mut Vec<u8>, text: &str) {
    let start = out.len();
    // Writing a string to memory cannot fail.
    let _ = serde_json::to_writer(&mut *out, text);
    out.pop();
    if start < out.len() {
        out.remove(start);
    }
}

struct Lossy(String);

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl serde::de::Visitor<'_> for Bytes {
            type Value = Lossy;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Lossy, E> {
                Ok(Lossy(String::from_utf8_lossy(bytes).into_owned()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}
