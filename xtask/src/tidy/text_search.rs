//! Searches in text: matching brackets, whole words, lines.

/// The length of the bracketed text at the start, including both brackets.
pub(super) fn bracketed_length(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth = depth.checked_sub(1)?;
        }
        if depth == 0 {
            return Some(at + c.len_utf8());
        }
    }
    None
}

/// The line of a byte offset, counted from 1.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text);
    before.matches('\n').count() + 1
}

/// Byte offsets of a word that is not part of a longer name.
pub(super) fn find_words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let (before, rest) = text.split_at(at);
        let after = rest.strip_prefix(word).unwrap_or_default();
        !before.ends_with(is_name_char) && !after.starts_with(is_name_char)
    })
}

/// The name at the start, which may be empty.
pub(super) fn leading_name(text: &str) -> &str {
    let end = text.find(|c| !is_name_char(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

pub(super) fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
