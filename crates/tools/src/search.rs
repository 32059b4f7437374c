//! File search by name and by content, with the libraries of ripgrep.

mod file_walk;
mod glob;
mod grep;
mod grep_search;
mod patterns;
mod result_lines;
mod search_timeout;

use grep_regex::RegexMatcher;
use windlass_core::call::outcome::ToolError;

pub use glob::GlobTool;
pub use grep::GrepTool;

/// Compiles a regular expression for single lines.
pub(crate) fn line_regex(pattern: &str) -> Result<RegexMatcher, ToolError> {
    let manner = patterns::MatchOptions { ignore_case: false, multiline: false };
    patterns::content_regex(pattern, manner)
}
