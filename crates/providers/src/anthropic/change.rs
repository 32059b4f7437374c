//! What deltas made of a field.

use std::borrow::Cow;

/// A field that deltas added to.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) key: Cow<'static, str>,
    pub(super) value: Value,
}

#[derive(Debug)]
pub(super) enum Value {
    /// A string, by what stands between its quotes.
    Text(String),
    /// A list, by what stands between its brackets.
    List(String),
    /// Anything else.
    Raw(String),
}

impl Change {
    pub(super) fn bytes(&self) -> usize {
        let value = match &self.value {
            Value::Text(text) | Value::List(text) | Value::Raw(text) => text.len(),
        };
        self.key.len() + value + 8
    }
}

impl Value {
    pub(super) fn write(&self, out: &mut String) {
        match self {
            Self::Raw(raw) => out.push_str(raw),
            Self::Text(text) => out.extend(["\"", text, "\""]),
            Self::List(items) => out.extend(["[", items, "]"]),
        }
    }
}

pub(super) fn as_text(raw: &str) -> Value {
    let inside = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    Value::Text(inside.unwrap_or_default().to_owned())
}

pub(super) fn as_list(raw: &str) -> Value {
    let inside = raw.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    Value::List(inside.unwrap_or_default().trim().to_owned())
}

pub(super) fn as_raw(raw: &str) -> Value {
    Value::Raw(raw.to_owned())
}
