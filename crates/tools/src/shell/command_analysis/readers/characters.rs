//! Characters that are not allowed anywhere in a command: those that two readers may interpret
//! differently, and those that make a human read something else.

use crate::limits::{MAX_HERE_DOCUMENTS, MAX_OPERATORS};
use crate::shell::command_analysis::analysis::CommandAnalysis;
use crate::tool_definition::tool_input::is_invisible;

pub(crate) fn check_characters(text: &str, found: &mut CommandAnalysis<'_>) {
    let has = |test: fn(char) -> bool| text.chars().any(test);
    if has(|c| c == '\0') {
        found.add_unsupported("it contains a NUL");
    }
    if has(|c| c == '\r') {
        found.add_unsupported("it contains a carriage return");
    }
    if has(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r' | '\0')) {
        found.add_unsupported("it contains a control character");
    }
    if has(is_invisible) {
        found.add_unsupported("it contains an invisible character");
    }
    if has(|c| c.is_whitespace() && !c.is_ascii()) {
        found.add_unsupported(
            "it contains a whitespace character that the shell does not treat as one",
        );
    }
}

/// Returns whether parsing the text would take too long. For malformed text the grammar's time is
/// quadratic in the number of operators, and it can only be stopped between steps, which then are
/// long.
pub(crate) fn has_too_many_operators(text: &str) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\t');
    let is_sign = |byte: &u8| b"()|&;<>{}[]=$`!\"".contains(byte) || is_control(byte);
    text.bytes().filter(is_sign).count() > MAX_OPERATORS
        || text.matches("<<").count() > MAX_HERE_DOCUMENTS
}
