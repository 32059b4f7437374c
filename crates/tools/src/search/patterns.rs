//! Patterns for file names and for contents.

use globset::{Glob, GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use windlass_core::call::outcome::ToolError;

use crate::limits::{MAX_MATCHER_BYTES, MAX_PATTERN_BYTES};

/// Returns what is wrong with a pattern of any kind.
pub(super) fn pattern_error(pattern: &str) -> Option<String> {
    match pattern.len() {
        0 => Some("the pattern is empty".to_owned()),
        long if long > MAX_PATTERN_BYTES => Some(format!("the pattern is too long ({long} bytes)")),
        _ if pattern.contains('\0') => Some("the pattern contains a NUL byte".to_owned()),
        _ => None,
    }
}

/// Compiles a glob for paths below a folder. Without a `/` it matches names at any depth.
pub(super) fn path_glob(pattern: &str) -> Result<GlobMatcher, ToolError> {
    let anywhere = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    let bare = anywhere.strip_prefix("./").unwrap_or(&anywhere);
    let glob: Result<Glob, _> = GlobBuilder::new(bare).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| invalid_pattern_error(&error.to_string()))
}

/// Options of a content match.
#[derive(Debug, Clone, Copy)]
pub(super) struct MatchOptions {
    pub(super) ignore_case: bool,
    pub(super) multiline: bool,
}

/// Compiles a regular expression for contents.
pub(super) fn content_regex(
    pattern: &str,
    manner: MatchOptions,
) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(manner.ignore_case).multi_line(true).size_limit(MAX_MATCHER_BYTES);
    match manner.multiline {
        true => builder.dot_matches_new_line(true),
        false => builder.line_terminator(Some(b'\n')),
    };
    builder.build(pattern).map_err(|error| invalid_pattern_error(&error.to_string()))
}

/// Compiles a path filter, as ripgrep's `--glob` takes it.
pub(super) fn path_filter(root: &std::path::Path, glob: &str) -> Result<Override, ToolError> {
    let mut builder = OverrideBuilder::new(root);
    builder.add(glob).map_err(|error| invalid_pattern_error(&error.to_string()))?;
    builder.build().map_err(|error| invalid_pattern_error(&error.to_string()))
}

/// Compiles a filter by file type, such as `rust` or `py`.
pub(super) fn type_filter(name: &str) -> Result<Types, ToolError> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults().select(name);
    builder.build().map_err(|_| {
        ToolError::new(
            "unknown_type",
            &format!("unknown file type {name:?}"),
            "use a type ripgrep knows (rust, py, js, ts, go, java, md, …), or a glob",
        )
    })
}

fn invalid_pattern_error(reason: &str) -> ToolError {
    ToolError::new(
        "bad_pattern",
        &format!("invalid pattern: {reason}"),
        "fix it; to match literally, escape special characters",
    )
}
