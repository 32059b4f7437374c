//! The functions of a source file and how long they are, by counting braces.

use super::nesting::{bracketed, leading_name, line_of, whole_words};

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    pub(super) line: usize,
    pub(super) lines: usize,
}

/// Expects code without comments and quoted text. A nested function counts for both.
pub(super) fn functions(code: &str) -> Vec<Function<'_>> {
    whole_words(code, "fn").filter_map(|at| function_at(code, at)).collect()
}

/// Nothing for a type (`fn(u8)`), a macro's pattern (`fn $name`) or a declaration in a trait.
fn function_at(code: &str, at: usize) -> Option<Function<'_>> {
    let text = code.get(at..)?;
    let name = leading_name(text.strip_prefix("fn ")?);
    let whole = text.get(..length(text)?).filter(|_| !name.is_empty())?;
    Some(Function { name, line: line_of(code, at), lines: whole.lines().count() })
}

fn length(text: &str) -> Option<usize> {
    let start = body_start(text)?;
    Some(start + bracketed(text.get(start..)?, '{', '}')?)
}

/// The brace after the signature. A semicolon ends a declaration, except within `[u8; 4]`.
fn body_start(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.checked_sub(1)?,
            ';' if depth == 0 => return None,
            '{' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}
