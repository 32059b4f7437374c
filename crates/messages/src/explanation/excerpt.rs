//! The beginning of a text, with how much of it was left out.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// Characters of an excerpt.
const MAX_CHARS: usize = 400;

/// Lines of an excerpt.
const MAX_LINES: usize = 4;

/// The beginning of a text. Nothing is cut without saying how much.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TextExcerpt {
    /// The first lines.
    pub text: String,
    /// Characters that are left out after them.
    pub omitted_chars: u64,
}

impl TextExcerpt {
    /// The first lines of a text.
    #[must_use]
    pub fn new(whole: &str) -> Self {
        let whole = whole.trim();
        let lines: Vec<&str> = whole.lines().take(MAX_LINES).collect();
        Self::cut(whole, &lines.join("\n"))
    }

    /// The first line that is not blank.
    #[must_use]
    pub fn first_line(whole: &str) -> Self {
        let whole = whole.trim();
        Self::cut(whole, whole.lines().next().unwrap_or_default())
    }

    fn cut(whole: &str, start: &str) -> Self {
        let text: String = start.chars().take(MAX_CHARS).collect();
        let omitted_chars = whole.chars().count().saturating_sub(text.chars().count()) as u64;
        Self { text, omitted_chars }
    }

    /// Returns whether the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

impl fmt::Display for TextExcerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match self.omitted_chars {
            0 => Ok(()),
            omitted => write!(f, " … ({omitted} more characters)"),
        }
    }
}
