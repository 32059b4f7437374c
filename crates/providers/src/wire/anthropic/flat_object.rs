//! Objects of a few plain strings and empty objects, split into their fields without a parser.

/// The largest number of fields at the start of a usual block.
const MAX_FIELDS: usize = 4;

/// An object that was split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FlatObject<'a> {
    pub(super) text: &'a str,
    fields: [(&'a str, &'a str); MAX_FIELDS],
    count: usize,
}

impl<'a> FlatObject<'a> {
    /// Splits an object without whitespace and escapes; `None` if it contains anything else.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let mut flat = Self { text, fields: Default::default(), count: 0 };
        let mut rest = text.strip_prefix('{')?;
        loop {
            let (key, after) = split_string(rest)?;
            let (value, after) = split_value(after.strip_prefix(':')?)?;
            *flat.fields.get_mut(flat.count)? = (key, value);
            flat.count += 1;
            match after.strip_prefix(',') {
                Some(after) => rest = after,
                None => return (after == "}").then_some(flat),
            }
        }
    }

    /// Keys and the exact text of their values, in order.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.fields.iter().copied().take(self.count)
    }
}

/// Splits off a string; returns its text and what follows it.
fn split_string(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('"')?;
    let is_special = |byte: u8| byte == b'"' || byte == b'\\' || byte < b' ';
    let end = inside.bytes().position(is_special)?;
    let (string, rest) = inside.split_at_checked(end)?;
    Some((string, rest.strip_prefix('"')?))
}

/// Splits off a value; returns its exact text and what follows it.
fn split_value(text: &str) -> Option<(&str, &str)> {
    let length = match split_string(text) {
        Some((inside, _)) => inside.len() + 2,
        None => text.starts_with("{}").then_some(2)?,
    };
    text.split_at_checked(length)
}
