//! One thing that is wrong, at one place.

use std::fmt;

/// Sorts by place, so that the findings of all rules about one file stand together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Finding {
    path: String,
    line: usize,
    says: String,
}

impl Finding {
    /// `says` is what is wrong and what to do about it.
    pub(super) fn new(path: &str, line: usize, says: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, says: says.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.path, self.line, self.says)
    }
}
