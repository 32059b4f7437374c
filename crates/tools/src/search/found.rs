//! What was found, with a bound on all of it.

use std::borrow::Cow;
use std::path::Path;

use crate::limits::MAX_FOUND_BYTES;

/// A path on one line: a name may hold anything, also what looks like the next result.
pub(super) fn shown(path: &Path) -> Cow<'_, str> {
    let text = path.to_string_lossy();
    match text.chars().any(char::is_control) {
        true => Cow::Owned(format!("{text:?}")),
        false => text,
    }
}

/// Lines for the model, from the one asked for and not more than asked for.
#[derive(Debug)]
pub(super) struct Found {
    text: String,
    skip: usize,
    room: usize,
    /// Whether there was more than fits.
    is_full: bool,
}

impl Found {
    pub(super) fn new(skip: usize, room: usize) -> Self {
        Self { text: String::new(), skip, room, is_full: false }
    }

    /// Adds a line if there is room; says whether there was.
    pub(super) fn push(&mut self, line: &str) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return true;
        }
        if self.room == 0 || self.text.len() + line.len() > MAX_FOUND_BYTES {
            self.is_full = true;
            return false;
        }
        self.room -= 1;
        self.text.push_str(line);
        self.text.push('\n');
        true
    }

    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// The whole, or the words for nothing.
    pub(super) fn finish(mut self, nothing: &str, note: &str) -> String {
        if self.text.is_empty() {
            self.text = format!("{nothing}\n");
        }
        if self.is_full {
            self.text.push_str("[there is more: narrow the search down, or go on with offset]\n");
        }
        self.text.push_str(note);
        self.text
    }
}
