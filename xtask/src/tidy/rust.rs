//! Just enough of Rust's grammar to tell code from comments and from quoted text.
//!
//! A rule that greps for a word must not trip over a sentence about that word, or over a test
//! that holds it in a string. What is not asked for becomes spaces, so lines keep their numbers.

use super::nesting::in_name;

/// What a stretch of source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Quoted,
}

/// The code alone.
pub(super) fn code(source: &str) -> String {
    only(Kind::Code, source)
}

/// The comments alone, their slashes included.
pub(super) fn comments(source: &str) -> String {
    only(Kind::Comment, source)
}

fn only(wanted: Kind, source: &str) -> String {
    let mut kept = String::with_capacity(source.len());
    let (mut rest, mut previous) = (source, ' ');
    while !rest.is_empty() {
        let (kind, length) = stretch(rest, previous);
        let (text, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        if kind == wanted {
            kept.push_str(text);
        } else {
            kept.extend(blanks(text));
        }
        previous = text.chars().next_back().unwrap_or(' ');
        rest = after;
    }
    kept
}

fn blanks(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|c| if c == '\n' { '\n' } else { ' ' })
}

/// The kind and the length in bytes of what stands at the start.
fn stretch(rest: &str, previous: char) -> (Kind, usize) {
    if rest.starts_with("//") {
        return (Kind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Kind::Comment, block_comment(rest));
    }
    let raw = if in_name(previous) { None } else { raw_string(rest) };
    match raw.or_else(|| string(rest)).or_else(|| character(rest)) {
        Some(length) => (Kind::Quoted, length),
        None => (Kind::Code, rest.chars().next().map_or(1, char::len_utf8)),
    }
}

/// Block comments nest in Rust.
fn block_comment(rest: &str) -> usize {
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

/// `r"…"`, `r#"…"#`, and the same after `b` or `c`.
fn raw_string(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix(['b', 'c']).unwrap_or(rest).strip_prefix('r')?;
    let unhashed = body.trim_start_matches('#');
    let inside = unhashed.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(body.len() - unhashed.len()));
    let start = rest.len() - inside.len();
    Some(inside.find(&end).map_or(rest.len(), |at| start + at + end.len()))
}

fn string(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('"')?;
    Some(unescaped(inside, '"').map_or(rest.len(), |at| at + 2))
}

/// A character literal, and not a lifetime or a label.
fn character(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('\'')?;
    let first = inside.chars().next()?;
    if first == '\\' {
        return unescaped(inside, '\'').map(|at| at + 2);
    }
    let closing = inside.get(first.len_utf8()..)?;
    closing.starts_with('\'').then(|| first.len_utf8() + 2)
}

/// Where a quote stands that no backslash takes the meaning from.
fn unescaped(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == quote && !escaped {
            return Some(at);
        }
        escaped = c == '\\' && !escaped;
    }
    None
}
