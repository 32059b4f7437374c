//! Finding files by name and by what is in them, with the parts of ripgrep.

mod found;
mod glob;
mod grep;
mod matches;
mod pattern;
mod stop;
mod walk;

use grep_regex::RegexMatcher;
use windlass_core::outcome::ToolError;

pub use glob::Glob;
pub use grep::Grep;

/// A regular expression for single lines.
pub(crate) fn lines(pattern: &str) -> Result<RegexMatcher, ToolError> {
    let manner = pattern::Manner { ignore_case: false, across_lines: false };
    pattern::contents(pattern, manner)
}
