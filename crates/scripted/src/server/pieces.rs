//! Splits a text into the pieces in which it is streamed.

use super::limits::MAX_PIECE_CHARS;

/// Splits a text into words; no piece is longer than [`MAX_PIECE_CHARS`].
pub(crate) fn split_pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(char::is_whitespace).flat_map(split_long_word)
}

/// The first half of a text.
pub(crate) fn first_half(text: &str) -> &str {
    let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    text.get(..middle).unwrap_or_default()
}

fn split_long_word(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(MAX_PIECE_CHARS).map_or(rest.len(), |(at, _)| at);
        let (chunk, after) = rest.split_at_checked(end)?;
        rest = after;
        (!chunk.is_empty()).then_some(chunk)
    })
}
