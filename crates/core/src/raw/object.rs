//! A JSON object of known fields, written in one go and not read again.

use super::Raw;
use super::escape;

/// A JSON object in the making.
#[derive(Debug)]
pub struct Object(String);

impl Object {
    /// An empty one with room for this many bytes of values, for their keys and for some escapes.
    #[must_use]
    pub fn with_room(bytes: usize) -> Self {
        Self(String::with_capacity(bytes + bytes / 16 + 80))
    }

    /// A field that holds text.
    #[must_use]
    pub fn text(mut self, key: &'static str, value: &str) -> Self {
        self.key(key);
        escape::push_quoted(&mut self.0, value);
        self
    }

    /// A field that holds JSON: one value that was read as such, or made as such.
    #[must_use]
    pub fn json(mut self, key: &'static str, value: &str) -> Self {
        self.key(key);
        self.0.push_str(value);
        self
    }

    /// What became of it.
    #[must_use]
    pub fn close(mut self) -> Raw {
        self.0.push_str(if self.0.is_empty() { "{}" } else { "}" });
        Raw::made(self.0)
    }

    /// Keys are ours and need no escapes.
    fn key(&mut self, key: &'static str) {
        self.0.push_str(if self.0.is_empty() { "{\"" } else { ",\"" });
        self.0.push_str(key);
        self.0.push_str("\":");
    }
}
