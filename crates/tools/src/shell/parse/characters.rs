//! Characters that have no place in a command, wherever they stand: those that two readers may
//! take for different things, and those that make a human read something else.

use super::found::Found;
use crate::input::is_invisible;

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
