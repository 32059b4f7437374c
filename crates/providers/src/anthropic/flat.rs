//! Objects of a few plain strings and empty objects, split into their fields without a parser.

/// The most fields that a usual block begins with.
const MOST_FIELDS: usize = 4;

/// An object that was split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flat<'a> {
    pub(super) text: &'a str,
    fields: [(&'a str, &'a str); MOST_FIELDS],
    count: usize,
}

impl<'a> Flat<'a> {
    /// Splits an object without blanks and escapes; nothing if there is anything else in it.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let mut flat = Self { text, fields: Default::default(), count: 0 };
        let mut rest = text.strip_prefix('{')?;
        loop {
            let (key, after) = string(rest)?;
            let (value, after) = value(after.strip_prefix(':')?)?;
            *flat.fields.get_mut(flat.count)? = (key, value);
            flat.count += 1;
            match after.strip_prefix(',') {
                Some(after) => rest = after,
                None => return (after == "}").then_some(flat),
            }
        }
    }

    /// Keys, and the exact text of their values, in order.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.fields.iter().copied().take(self.count)
    }
}

/// A string's text, and what follows it.
fn string(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('"')?;
    let is_special = |byte: u8| byte == b'"' || byte == b'\\' || byte < b' ';
    let end = inside.bytes().position(is_special)?;
    let (string, rest) = inside.split_at_checked(end)?;
    Some((string, rest.strip_prefix('"')?))
}

/// The exact text of a value, and what follows it.
fn value(text: &str) -> Option<(&str, &str)> {
    let length = match string(text) {
        Some((inside, _)) => inside.len() + 2,
        None => text.starts_with("{}").then_some(2)?,
    };
    text.split_at_checked(length)
}
