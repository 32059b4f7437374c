//! Characters that have no place in a command, wherever they stand: those that two readers may
//! take for different things, and those that make a human read something else.

use super::found::Found;
use crate::input::is_invisible;
use crate::limits::{MAX_HERE, MAX_SIGNS};

pub(super) fn check(text: &str, found: &mut Found<'_>) {
    let has = |test: fn(char) -> bool| text.chars().any(test);
    if has(|c| c == '\0') {
        found.doubt("it holds a NUL");
    }
    if has(|c| c == '\r') {
        found.doubt("it holds a carriage return");
    }
    if has(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r' | '\0')) {
        found.doubt("it holds a control character");
    }
    if has(is_invisible) {
        found.doubt("it holds a character that cannot be seen");
    }
    if has(|c| c.is_whitespace() && !c.is_ascii()) {
        found.doubt("it holds a blank that is none for a shell");
    }
}

/// Whether reading the text would take too long. Where it makes no sense the grammar takes time in
/// proportion to the square of these, and it can only be stopped between steps, which then are long.
pub(super) fn has_too_many_signs(text: &str) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\t');
    let is_sign = |byte: &u8| b"()|&;<>{}[]=$`!\"".contains(byte) || is_control(byte);
    text.bytes().filter(is_sign).count() > MAX_SIGNS || text.matches("<<").count() > MAX_HERE
}
