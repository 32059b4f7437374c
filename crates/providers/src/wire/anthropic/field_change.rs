//! The changes that deltas made to a field.

use std::borrow::Cow;

/// A field that deltas changed.
#[derive(Debug)]
pub(super) struct FieldChange {
    pub(super) key: Cow<'static, str>,
    pub(super) value: ChangedValue,
}

#[derive(Debug)]
pub(super) enum ChangedValue {
    /// A string, as the text between its quotes.
    Text(String),
    /// A list, as the text between its brackets.
    List(String),
    /// Any other value.
    Raw(String),
}

impl FieldChange {
    pub(super) fn encoded_len(&self) -> usize {
        let value = match &self.value {
            ChangedValue::Text(text) | ChangedValue::List(text) | ChangedValue::Raw(text) => {
                text.len()
            }
        };
        self.key.len() + value + 8
    }
}

impl ChangedValue {
    pub(super) fn write(&self, out: &mut String) {
        match self {
            Self::Raw(raw) => out.push_str(raw),
            Self::Text(text) => out.extend(["\"", text, "\""]),
            Self::List(items) => out.extend(["[", items, "]"]),
        }
    }
}

pub(super) fn text_value(raw: &str) -> ChangedValue {
    let inside = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    ChangedValue::Text(inside.unwrap_or_default().to_owned())
}

pub(super) fn list_value(raw: &str) -> ChangedValue {
    let inside = raw.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    ChangedValue::List(inside.unwrap_or_default().trim().to_owned())
}

pub(super) fn raw_value(raw: &str) -> ChangedValue {
    ChangedValue::Raw(raw.to_owned())
}
