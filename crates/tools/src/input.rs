//! Reading a call's input: strictly, and the same way before the call is judged and when it runs.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use windlass_core::facts::{Facts, Interrupt, Repeat};
use windlass_core::order::Touches;
use windlass_core::outcome::ToolError;
use windlass_core::raw::Raw;

use crate::limits::{MAX_PATH_BYTES, SUMMARY_CHARS, TIMEOUT_MS};

/// What a tool takes. Unknown keys are for the type to refuse (`deny_unknown_fields`); serde's
/// derive refuses repeated ones by itself.
pub(crate) trait Input: DeserializeOwned {
    /// What its schema cannot say.
    fn problem(&self) -> Option<String> {
        None
    }
}

/// Reads `input` as `T`.
pub(crate) fn read<T: Input>(input: &Raw) -> Result<T, ToolError> {
    if !input.is_object() {
        return Err(ToolError::not_an_object());
    }
    let read: Result<T, _> = input.read();
    let read = read.map_err(|error| invalid(&format!("the input does not fit: {error}")))?;
    match read.problem() {
        Some(problem) => Err(invalid(&problem)),
        None => Ok(read),
    }
}

/// What is wrong with a path, before anything is looked up.
pub(crate) fn path_problem(name: &str, path: &str) -> Option<String> {
    match path.len() {
        0 => Some(format!("the {name} is empty")),
        _ if path.contains('\0') => Some(format!("the {name} holds a NUL byte")),
        long if long > MAX_PATH_BYTES => Some(format!("the {name} has {long} bytes")),
        _ => None,
    }
}

/// The input is not what the tool takes.
pub(crate) fn invalid(message: &str) -> ToolError {
    ToolError::new("invalid_input", message, "send an input that fits the tool's schema")
}

/// Facts of a call that only looks.
pub(crate) fn looks(keys: Vec<Arc<str>>, said: &str) -> Facts {
    Facts {
        touches: Touches::Reads(keys),
        repeat: Repeat::Repeatable,
        interrupt: Interrupt::Interruptible,
        timeout_ms: TIMEOUT_MS,
        summary: Some(summary(said)),
        ..Facts::default()
    }
}

/// Facts of a call that changes something, in one step that is not stopped half-way.
pub(crate) fn changes(keys: Vec<Arc<str>>, said: &str) -> Facts {
    Facts {
        touches: Touches::Writes(keys),
        repeat: Repeat::OnceOnly,
        interrupt: Interrupt::RunsToEnd,
        ..looks(Vec::new(), said)
    }
}

/// Facts of a call that must not run.
pub(crate) fn unfit(problem: ToolError) -> Facts {
    Facts {
        touches: Touches::Exclusive,
        repeat: Repeat::OnceOnly,
        problem: Some(problem),
        summary: None,
        ..looks(Vec::new(), "")
    }
}

/// One line for a human, without control characters that could lie about what it says.
pub(crate) fn summary(text: &str) -> Arc<str> {
    let escaped = text.chars().flat_map(shown);
    let mut line: String = escaped.clone().take(SUMMARY_CHARS).collect();
    if escaped.count() > SUMMARY_CHARS {
        line.push('…');
    }
    Arc::from(line)
}

fn shown(c: char) -> impl Iterator<Item = char> + Clone {
    let escape = (c.is_control() || is_invisible(c)).then(|| c.escape_default());
    let plain = escape.is_none().then_some(c);
    plain.into_iter().chain(escape.into_iter().flatten())
}

/// Zero-width signs, joiners, and what turns the direction of writing.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}
