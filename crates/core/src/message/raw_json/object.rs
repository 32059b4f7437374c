//! Writer for a JSON object of known fields; the result is not parsed again.

use super::RawJson;
use super::escape;

/// Writer of a JSON object.
#[derive(Debug)]
pub struct ObjectWriter(String);

impl ObjectWriter {
    /// Creates an empty object with capacity for this many bytes of values, for their keys and for
    /// some escapes.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        Self(String::with_capacity(bytes + bytes / 16 + 80))
    }

    /// Adds a text field.
    #[must_use]
    pub fn text(mut self, key: &'static str, value: &str) -> Self {
        self.write_key(key);
        escape::push_quoted(&mut self.0, value);
        self
    }

    /// Adds a field with JSON: one value that was parsed or built as JSON.
    #[must_use]
    pub fn json(mut self, key: &'static str, value: &str) -> Self {
        self.write_key(key);
        self.0.push_str(value);
        self
    }

    /// Returns the finished object.
    #[must_use]
    pub fn finish(mut self) -> RawJson {
        self.0.push_str(if self.0.is_empty() { "{}" } else { "}" });
        RawJson::from_built_text(self.0)
    }

    /// Writes a key. Keys are constants and need no escapes.
    fn write_key(&mut self, key: &'static str) {
        self.0.push_str(if self.0.is_empty() { "{\"" } else { ",\"" });
        self.0.push_str(key);
        self.0.push_str("\":");
    }
}
