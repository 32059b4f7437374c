//! Reads tool input strictly, the same way before the permission decision and when the call runs.
//! The input is parsed both times, and paths in it are resolved both times: what was authorised is
//! compared with what runs.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use windlass_core::call::call_facts::{CallFacts, Interruptibility, Repeatability};
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::outcome::ToolError;
use windlass_core::message::raw_json::RawJson;

use crate::limits::{DEFAULT_TIMEOUT_MS, MAX_PATH_BYTES, MAX_SUMMARY_CHARS};

/// The input type of a tool. Unknown keys must be rejected by the type (`deny_unknown_fields`);
/// serde's derive rejects repeated ones by itself.
pub(crate) trait ToolInput: DeserializeOwned {
    /// Returns an error for what the schema cannot express.
    fn validation_error(&self) -> Option<String> {
        None
    }
}

/// Reads `input` as `T`.
pub(crate) fn read_input<T: ToolInput>(input: &RawJson) -> Result<T, ToolError> {
    let read: T = parse_object(input)?;
    match read.validation_error() {
        Some(problem) => Err(invalid_input_error(&problem)),
        None => Ok(read),
    }
}

/// Parses `input`, which must be an object, as `T`, without further validation.
pub(crate) fn parse_object<T: DeserializeOwned>(input: &RawJson) -> Result<T, ToolError> {
    if !input.is_object() {
        return Err(ToolError::not_an_object());
    }
    input.read().map_err(|error| invalid_input_error(&format!("invalid input: {error}")))
}

/// Returns what is wrong with a path, before it is resolved.
pub(crate) fn path_error(name: &str, path: &str) -> Option<String> {
    match path.len() {
        0 => Some(format!("the {name} is empty")),
        _ if path.contains('\0') => Some(format!("the {name} contains a NUL byte")),
        long if long > MAX_PATH_BYTES => Some(format!("the {name} is too long ({long} bytes)")),
        _ => None,
    }
}

/// Returns the error for invalid input.
pub(crate) fn invalid_input_error(message: &str) -> ToolError {
    ToolError::new("invalid_input", message, "send an input that matches the tool's schema")
}

/// Returns the facts of a read-only call.
pub(crate) fn read_only_facts(keys: Vec<Arc<str>>, text: &str) -> CallFacts {
    CallFacts {
        touches: TouchedResources::Reads(keys),
        repeat: Repeatability::Repeatable,
        interrupt: Interruptibility::Interruptible,
        timeout_ms: DEFAULT_TIMEOUT_MS,
        summary: Some(one_line_summary(text)),
        ..CallFacts::default()
    }
}

/// Returns the facts of a call that changes something, in one step that is not interrupted.
pub(crate) fn write_facts(keys: Vec<Arc<str>>, text: &str) -> CallFacts {
    CallFacts {
        touches: TouchedResources::Writes(keys),
        repeat: Repeatability::OnceOnly,
        interrupt: Interruptibility::RunsToEnd,
        ..read_only_facts(Vec::new(), text)
    }
}

/// Returns the facts of a call that must not run.
pub(crate) fn problem_facts(problem: ToolError) -> CallFacts {
    CallFacts {
        touches: TouchedResources::Exclusive,
        repeat: Repeatability::OnceOnly,
        problem: Some(problem),
        summary: None,
        ..read_only_facts(Vec::new(), "")
    }
}

/// Returns one line for a human, without control characters that could misrepresent its content.
pub(crate) fn one_line_summary(text: &str) -> Arc<str> {
    let escaped = text.chars().flat_map(escape_char);
    let mut line: String = escaped.clone().take(MAX_SUMMARY_CHARS).collect();
    if escaped.count() > MAX_SUMMARY_CHARS {
        line.push('…');
    }
    Arc::from(line)
}

fn escape_char(c: char) -> impl Iterator<Item = char> + Clone {
    let escape = (c.is_control() || is_invisible(c)).then(|| c.escape_default());
    let plain = escape.is_none().then_some(c);
    plain.into_iter().chain(escape.into_iter().flatten())
}

/// Returns whether a character is invisible: zero-width characters, joiners, and bidirectional
/// controls.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}
