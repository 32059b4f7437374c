//! Patterns for names, words and paths, without regular expressions: matching takes time in
//! proportion to pattern × text and cannot explode.

use std::sync::Arc;

/// Whether `text` fits `pattern`, in which `*` stands for any run of characters and `?` for one.
#[must_use]
pub fn fits(pattern: &str, text: &str) -> bool {
    if !pattern.contains(['*', '?']) {
        return pattern == text;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    wild(&pattern, &text, |p| *p == '*', |p, t| *p == '?' || p == t)
}

/// Whether `words` fit `pattern` one by one; a `*` that stands alone is any number of words.
#[must_use]
pub fn words_fit(pattern: &[Arc<str>], words: &[Arc<str>]) -> bool {
    wild(pattern, words, |p| &**p == "*", |p, t| fits(p, t))
}

/// Whether `path` fits `pattern` part by part: `*` and `?` stay within a part, `**` stands for any
/// number of parts, and a pattern that names a folder covers everything beneath it.
#[must_use]
pub fn path_fits(pattern: &[&str], path: &str) -> bool {
    let path: Vec<&str> = parts(path).collect();
    let beneath = [pattern, &["**"]].concat();
    wild(&beneath, &path, |p| *p == "**", |p, t| fits(p, t))
}

/// The parts of a path or of a pattern for one.
pub fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

/// Matching with a wildcard for any run, remembering only the last one seen.
fn wild<P, T>(
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
