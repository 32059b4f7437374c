//! Reading a call's input: strictly, and the same way before the call is judged and when it runs.

use std::sync::Arc;

use serde::Deserialize;
use windlass_core::facts::{AnsweredBy, Facts, Interrupt, Repeat, Verify};
use windlass_core::order::Touches;
use windlass_core::outcome::ToolError;
use windlass_core::raw::Raw;

use crate::limits::{SUMMARY_CHARS, TIMEOUT_MS};

/// Reads `input` as `T`. Unknown and repeated keys are for `T` to refuse; serde's derive does the
/// second by itself and the first if told.
pub(crate) fn read<'a, T: Deserialize<'a>>(input: &'a Raw) -> Result<T, ToolError> {
    if !input.is_object() {
        return Err(ToolError::not_an_object());
    }
    input.read().map_err(|error| invalid(&format!("the input does not fit: {error}")))
}

/// The input is not what the tool takes.
pub(crate) fn invalid(message: &str) -> ToolError {
    ToolError::new("invalid_input", message, "send an input that fits the tool's schema")
}

/// Facts of a call that must not run.
pub(crate) fn unfit(problem: ToolError) -> Facts {
    Facts {
        touches: Touches::Exclusive,
        repeat: Repeat::OnceOnly,
        interrupt: Interrupt::Interruptible,
        verify: Verify::CannotTell,
        answered_by: AnsweredBy::Tool,
        timeout_ms: TIMEOUT_MS,
        problem: Some(problem),
        summary: None,
        ..Facts::default()
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
