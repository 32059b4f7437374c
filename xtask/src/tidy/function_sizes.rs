//! The functions of a source file and their lengths, by counting braces.

use super::text_search::{bracketed_length, find_words, leading_name, line_of};

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FunctionSize<'a> {
    pub(super) name: &'a str,
    pub(super) line: usize,
    pub(super) lines: usize,
}

/// Finds all functions. Expects code without comments and quoted text. A nested function counts for
/// both.
pub(super) fn find_functions(code: &str) -> Vec<FunctionSize<'_>> {
    find_words(code, "fn").filter_map(|at| function_at(code, at)).collect()
}

/// The function at an offset; `None` for a type (`fn(u8)`), a macro's pattern (`fn $name`) or a
/// declaration in a trait.
fn function_at(code: &str, at: usize) -> Option<FunctionSize<'_>> {
    let text = code.get(at..)?;
    let name = leading_name(text.strip_prefix("fn ")?);
    let whole = text.get(..function_length(text)?).filter(|_| !name.is_empty())?;
    Some(FunctionSize { name, line: line_of(code, at), lines: whole.lines().count() })
}

fn function_length(text: &str) -> Option<usize> {
    let start = body_start(text)?;
    Some(start + bracketed_length(text.get(start..)?, '{', '}')?)
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
