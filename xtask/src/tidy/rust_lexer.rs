//! A small lexer for Rust that distinguishes code from comments and from quoted text.
//!
//! A rule that searches for a word must not find a sentence about that word, or a test that has it
//! in a string. Text that is not requested becomes spaces, so lines keep their numbers.

use super::text_search::is_name_char;

/// The kind of a stretch of source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextKind {
    Code,
    Comment,
    Quoted,
}

/// The code alone.
pub(super) fn code_only(source: &str) -> String {
    keep_kind(TextKind::Code, source)
}

/// The comments alone, including their slashes.
pub(super) fn comments_only(source: &str) -> String {
    keep_kind(TextKind::Comment, source)
}

fn keep_kind(wanted: TextKind, source: &str) -> String {
    let mut kept = String::with_capacity(source.len());
    let (mut rest, mut previous) = (source, ' ');
    while !rest.is_empty() {
        let (kind, length) = next_stretch(rest, previous);
        let (text, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        if kind == wanted {
            kept.push_str(text);
        } else {
            kept.extend(blank_out(text));
        }
        previous = text.chars().next_back().unwrap_or(' ');
        rest = after;
    }
    kept
}

fn blank_out(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|c| if c == '\n' { '\n' } else { ' ' })
}

/// The kind and the length in bytes of the first stretch.
fn next_stretch(rest: &str, previous: char) -> (TextKind, usize) {
    if rest.starts_with("//") {
        return (TextKind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (TextKind::Comment, block_comment_length(rest));
    }
    let raw = if is_name_char(previous) { None } else { raw_string_length(rest) };
    match raw.or_else(|| string_length(rest)).or_else(|| char_literal_length(rest)) {
        Some(length) => (TextKind::Quoted, length),
        None => (TextKind::Code, rest.chars().next().map_or(1, char::len_utf8)),
    }
}

/// The length of a block comment; block comments nest in Rust.
fn block_comment_length(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(tail) = rest.get(at..).filter(|tail| !tail.is_empty()) {
        let (step, change) = comment_step(tail);
        depth = depth.saturating_add_signed(change);
        at += step;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn comment_step(tail: &str) -> (usize, isize) {
    match tail {
        _ if tail.starts_with("/*") => (2, 1),
        _ if tail.starts_with("*/") => (2, -1),
        _ => (tail.chars().next().map_or(1, char::len_utf8), 0),
    }
}

/// The length of `r"…"`, `r#"…"#`, and the same after `b` or `c`.
fn raw_string_length(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix(['b', 'c']).unwrap_or(rest).strip_prefix('r')?;
    let unhashed = body.trim_start_matches('#');
    let inside = unhashed.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(body.len() - unhashed.len()));
    let start = rest.len() - inside.len();
    Some(inside.find(&end).map_or(rest.len(), |at| start + at + end.len()))
}

fn string_length(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('"')?;
    Some(find_unescaped(inside, '"').map_or(rest.len(), |at| at + 2))
}

/// The length of a character literal; `None` for a lifetime or a label.
fn char_literal_length(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('\'')?;
    let first = inside.chars().next()?;
    if first == '\\' {
        return find_unescaped(inside, '\'').map(|at| at + 2);
    }
    let closing = inside.get(first.len_utf8()..)?;
    closing.starts_with('\'').then(|| first.len_utf8() + 2)
}

/// The offset of a quote that is not escaped by a backslash.
fn find_unescaped(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == quote && !escaped {
            return Some(at);
        }
        escaped = c == '\\' && !escaped;
    }
    None
}
