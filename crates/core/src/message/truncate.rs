//! Truncates text to a number of characters without splitting a grapheme or the JSON around it.
//!
//! Head and tail are kept, the omitted size is stated in between, and the preview is a JSON string
//! of its own, so the result is valid whatever was truncated.

use std::borrow::Cow;

use crate::message::content_block::{BlockKind, ContentBlock};
use crate::message::raw_json::RawJson;

/// Characters per token that are assumed where a limit in tokens bounds a text.
pub(crate) const CHARS_PER_TOKEN: u64 = 4;

/// Maximum characters of sentences in an error object.
pub const MAX_SENTENCE_CHARS: u64 = 4_000;

/// Returns a tool result's content, truncated to `limit_chars` if it is longer.
#[must_use]
pub fn truncate_content(content: &RawJson, limit_chars: u64) -> RawJson {
    if (content.text().len() as u64) <= limit_chars {
        return content.clone();
    }
    match content.read::<Cow<'_, str>>() {
        Ok(inner) if (inner.chars().count() as u64) <= limit_chars => content.clone(),
        Ok(inner) => RawJson::string(&truncate_text(&inner, limit_chars)),
        Err(_) => truncate_blocks(content, limit_chars),
    }
}

/// Truncates a list of blocks: texts share the limit, and an image or a document stays whole,
/// because half of it is useless.
fn truncate_blocks(content: &RawJson, limit_chars: u64) -> RawJson {
    let Ok(list) = content.read::<Vec<ContentBlock>>() else {
        // Text that a Rust string cannot hold: the preview shows the JSON text itself.
        return RawJson::string(&truncate_text(content.text(), limit_chars));
    };
    let texts = list.iter().filter(|block| block.as_text().is_some()).count() as u64;
    let is_known = |block: &ContentBlock| {
        let name = if let BlockKind::Other(name) = block.kind() { &**name } else { "" };
        block.as_text().is_some() || matches!(name, "image" | "document")
    };
    if texts == list.len() as u64 || !list.iter().all(is_known) {
        return RawJson::string(&truncate_text(content.text(), limit_chars));
    }
    let share = limit_chars / texts.max(1);
    let cut = |block: &ContentBlock| match block.as_text() {
        Some(long) => ContentBlock::text(&truncate_text(long, share)),
        None => block.clone(),
    };
    RawJson::encode(&list.iter().map(cut).collect::<Vec<_>>())
}

/// Returns `text` with at most `limit_chars` characters plus the sentence that says what is
/// missing.
#[must_use]
pub fn truncate_text(text: &str, limit_chars: u64) -> Cow<'_, str> {
    let limit = usize::try_from(limit_chars).unwrap_or(usize::MAX);
    let total = text.chars().count();
    if total <= limit {
        return Cow::Borrowed(text);
    }
    let tail_chars = limit / 4;
    let head = take_head(text, limit - tail_chars);
    let tail = take_tail(text, tail_chars);
    let omitted = total - head.chars().count() - tail.chars().count();
    Cow::Owned(format!("{head}\n[… {omitted} characters omitted …]\n{tail}"))
}

/// Returns the beginning of `text` on one line, at most `limit_chars` characters including an
/// ellipsis.
#[must_use]
pub fn truncate_line(text: &str, limit_chars: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= limit_chars {
        return line;
    }
    match limit_chars.checked_sub(1) {
        Some(chars) => format!("{}…", take_head(&line, chars)),
        None => String::new(),
    }
}

fn take_head(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let end = back_to_boundary(text, end);
    text.get(..end).unwrap_or_default()
}

fn take_tail(text: &str, chars: usize) -> &str {
    let start = match chars.checked_sub(1) {
        Some(last) => text.char_indices().rev().nth(last).map_or(0, |(at, _)| at),
        None => text.len(),
    };
    let start = forward_to_boundary(text, start);
    text.get(start..).unwrap_or_default()
}

/// Moves a cut back until it does not separate a base character from its modifiers.
fn back_to_boundary(text: &str, mut at: usize) -> usize {
    while is_inside_grapheme(text, at) {
        at = text.get(..at).and_then(|s| s.char_indices().next_back()).map_or(0, |(i, _)| i);
    }
    at
}

fn forward_to_boundary(text: &str, mut at: usize) -> usize {
    while is_inside_grapheme(text, at) {
        at += text.get(at..).and_then(|s| s.chars().next()).map_or(1, char::len_utf8);
    }
    at
}

/// Returns whether the characters around `at` belong to one grapheme: combining marks, joiners,
/// variation selectors, skin tones, the two letters of a flag, a line break of two characters.
fn is_inside_grapheme(text: &str, at: usize) -> bool {
    if at == 0 || at >= text.len() {
        return false;
    }
    let Some((before, after)) = text.split_at_checked(at) else { return true };
    match (before.chars().next_back(), after.chars().next()) {
        (Some('\u{200d}'), _) | (Some('\r'), Some('\n')) => true,
        (Some(a), Some(b)) if is_flag_letter(a) && is_flag_letter(b) => splits_flag(before),
        (_, after) => after.is_some_and(extends_grapheme),
    }
}

fn is_flag_letter(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

/// Returns whether the cut would split a flag. Flags are pairs of letters, counted from the start
/// of the sequence. A very long sequence is not text, so the count is bounded.
fn splits_flag(before: &str) -> bool {
    before.chars().rev().take(MAX_FLAG_LETTERS).take_while(|c| is_flag_letter(*c)).count() % 2 == 1
}

/// Maximum number of flag letters that are counted backwards.
const MAX_FLAG_LETTERS: usize = 256;

fn extends_grapheme(c: char) -> bool {
    matches!(c,
        '\u{0300}'..='\u{036f}' | '\u{0483}'..='\u{0489}' | '\u{0591}'..='\u{05bd}' | '\u{05bf}'
        | '\u{05c1}'..='\u{05c2}' | '\u{05c4}'..='\u{05c5}' | '\u{05c7}'
        | '\u{0610}'..='\u{061a}' | '\u{064b}'..='\u{065f}' | '\u{0670}'
        | '\u{06d6}'..='\u{06dc}' | '\u{06df}'..='\u{06e4}'
        | '\u{0900}'..='\u{0903}' | '\u{093a}'..='\u{093c}' | '\u{093e}'..='\u{094f}'
        | '\u{0981}'..='\u{0983}' | '\u{09bc}' | '\u{09be}'..='\u{09cd}'
        | '\u{0bbe}'..='\u{0bcd}' | '\u{0e31}' | '\u{0e34}'..='\u{0e3a}' | '\u{0e47}'..='\u{0e4e}'
        | '\u{1160}'..='\u{11ff}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{200c}'..='\u{200d}' | '\u{3099}'..='\u{309a}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}' | '\u{1f3fb}'..='\u{1f3ff}'
        | '\u{e0020}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
}
