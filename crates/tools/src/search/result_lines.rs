//! Result lines of a search, with a bound on their total size.

use std::borrow::Cow;
use std::path::Path;

use crate::limits::MAX_SEARCH_RESULT_BYTES;

/// Returns a path on one line: a name may contain anything, also what looks like the next result.
pub(super) fn display_path(path: &Path) -> Cow<'_, str> {
    let text = path.to_string_lossy();
    match text.chars().any(char::is_control) {
        true => Cow::Owned(format!("{text:?}")),
        false => text,
    }
}

/// Result lines for the model, with the offset and the limit of the call.
#[derive(Debug)]
pub(super) struct ResultLines {
    text: String,
    skip: usize,
    remaining: usize,
    /// Whether there was more than fits.
    is_truncated: bool,
}

impl ResultLines {
    pub(super) fn new(skip: usize, remaining: usize) -> Self {
        Self { text: String::new(), skip, remaining, is_truncated: false }
    }

    /// Adds a line if it fits; returns whether it did.
    pub(super) fn push(&mut self, line: &str) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return true;
        }
        if self.remaining == 0 || self.text.len() + line.len() > MAX_SEARCH_RESULT_BYTES {
            self.is_truncated = true;
            return false;
        }
        self.remaining -= 1;
        self.text.push_str(line);
        self.text.push('\n');
        true
    }

    pub(super) fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Returns the whole result, or the text for an empty one.
    pub(super) fn finish(mut self, nothing: &str, note: &str) -> String {
        if self.text.is_empty() {
            self.text = format!("{nothing}\n");
        }
        if self.is_truncated {
            self.text.push_str("[more results: narrow the search, or continue with offset]\n");
        }
        self.text.push_str(note);
        self.text
    }
}
