//! Patterns for names, words and paths, without regular expressions: matching takes time in
//! proportion to pattern × text and cannot explode.

use std::sync::Arc;

/// A part of a pattern for names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamePart {
    AnyRun,
    AnyCharacter,
    Character(char),
}

/// Returns whether `text` matches `pattern`, in which `*` stands for any run of characters and `?`
/// for one. A backslash before one of them, or before another backslash, escapes it.
#[must_use]
pub fn matches_name(pattern: &str, text: &str) -> bool {
    if !has_wildcard(pattern) {
        return pattern == text;
    }
    let pattern = name_parts(pattern);
    let text: Vec<char> = text.chars().collect();
    let is_same = |part: &NamePart, c: &char| match part {
        NamePart::AnyCharacter => true,
        NamePart::Character(own) => own == c,
        NamePart::AnyRun => false,
    };
    match_wildcards(&pattern, &text, |part| *part == NamePart::AnyRun, is_same)
}

/// Returns whether the text contains a wildcard or an escape.
#[must_use]
pub fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?', '\\'])
}

/// Returns a pattern that only this text matches.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn name_parts(pattern: &str) -> Vec<NamePart> {
    let mut parts = Vec::new();
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        parts.push(match c {
            '*' => NamePart::AnyRun,
            '?' => NamePart::AnyCharacter,
            '\\' => {
                let escaped = rest.next_if(|next| matches!(next, '*' | '?' | '\\'));
                NamePart::Character(escaped.unwrap_or('\\'))
            }
            c => NamePart::Character(c),
        });
    }
    parts
}

/// Returns whether `words` match `pattern` one by one; a separate `*` is any number of words.
#[must_use]
pub fn matches_words(pattern: &[Arc<str>], words: &[Arc<str>]) -> bool {
    match_wildcards(pattern, words, |p| &**p == "*", |p, t| matches_name(p, t))
}

/// Returns whether `path` matches `pattern` part by part: `*` and `?` stay within a part, `**`
/// stands for any number of parts, and a pattern that names a folder covers everything beneath it.
#[must_use]
pub fn matches_path(pattern: &[&str], path: &str) -> bool {
    let path: Vec<&str> = path_parts(path).collect();
    let beneath = [pattern, &["**"]].concat();
    match_wildcards(&beneath, &path, |p| *p == "**", |p, t| matches_name(p, t))
}

/// Returns the parts of a path or of a path pattern.
pub fn path_parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

/// Matches wildcards with backtracking to the last one only.
fn match_wildcards<P, T>(
    pattern: &[P],
    text: &[T],
    is_any: impl Fn(&P) -> bool,
    is_same: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(have) = text.get(t) {
        match pattern.get(p) {
            Some(want) if is_any(want) => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some(want) if is_same(want, have) => {
                p += 1;
                t += 1;
            }
            Some(_) | None => match retry {
                Some((after, from)) => {
                    retry = Some((after, from + 1));
                    p = after;
                    t = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(is_any))
}
