//! One finding of a rule: what is wrong, and where.

use std::fmt;

/// A finding. Sorted by path and line, so that the findings of all rules about one file are
/// together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TidyFinding {
    path: String,
    line: usize,
    says: String,
}

impl TidyFinding {
    /// Creates a finding; `says` is what is wrong and what to do about it.
    pub(super) fn new(path: &str, line: usize, says: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, says: says.into() }
    }
}

impl fmt::Display for TidyFinding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.path, self.line, self.says)
    }
}
