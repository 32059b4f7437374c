//! Cutting text to a number of characters without breaking a character or the JSON around it.
//!
//! Head and tail stay, the omitted size is said in between, and the preview is a JSON string of
//! its own, so the result is valid whatever was cut.

use std::borrow::Cow;

use crate::block::{Block, Kind};
use crate::raw::Raw;

/// Bound for sentences we or a human wrote into an error object.
pub const SENTENCE_CHARS: u64 = 4_000;

/// A tool result's content, cut to `limit_chars` if it is longer.
#[must_use]
pub fn content(content: &Raw, limit_chars: u64) -> Raw {
    if (content.text().len() as u64) <= limit_chars {
        return content.clone();
    }
    match content.read::<Cow<'_, str>>() {
        Ok(inner) if (inner.chars().count() as u64) <= limit_chars => content.clone(),
        Ok(inner) => Raw::string(&text(&inner, limit_chars)),
        Err(_) => blocks(content, limit_chars),
    }
}

/// A list of blocks: texts share the limit, and an image or a document stays whole, because half of
/// it is nothing.
fn blocks(content: &Raw, limit_chars: u64) -> Raw {
    let Ok(list) = content.read::<Vec<Block>>() else {
        // Text that Rust cannot hold: the preview shows the JSON text itself.
        return Raw::string(&text(content.text(), limit_chars));
    };
    let texts = list.iter().filter(|block| block.as_text().is_some()).count() as u64;
    let is_known = |block: &Block| {
        let name = if let Kind::Other(name) = block.kind() { &**name } else { "" };
        block.as_text().is_some() || matches!(name, "image" | "document")
    };
    if texts == list.len() as u64 || !list.iter().all(is_known) {
        return Raw::string(&text(content.text(), limit_chars));
    }
    let share = limit_chars / texts.max(1);
    let cut = |block: &Block| match block.as_text() {
        Some(long) => Block::text(&text(long, share)),
        None => block.clone(),
    };
    Raw::encode(&list.iter().map(cut).collect::<Vec<_>>())
}

/// `text`, at most `limit_chars` characters plus the sentence that says what is missing.
#[must_use]
pub fn text(text: &str, limit_chars: u64) -> Cow<'_, str> {
    let limit = usize::try_from(limit_chars).unwrap_or(usize::MAX);
    let total = text.chars().count();
    if total <= limit {
        return Cow::Borrowed(text);
    }
    let tail_chars = limit / 4;
    let head = head(text, limit - tail_chars);
    let tail = tail(text, tail_chars);
    let omitted = total - head.chars().count() - tail.chars().count();
    Cow::Owned(format!("{head}\n[… {omitted} characters omitted …]\n{tail}"))
}

/// The beginning of `text` on one line, at most `limit_chars` characters, an ellipsis included.
#[must_use]
pub fn line(text: &str, limit_chars: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= limit_chars {
        return line;
    }
    match limit_chars.checked_sub(1) {
        Some(chars) => format!("{}…", head(&line, chars)),
        None => String::new(),
    }
}

fn head(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let end = back_to_boundary(text, end);
    text.get(..end).unwrap_or_default()
}

fn tail(text: &str, chars: usize) -> &str {
    let start = match chars.checked_sub(1) {
        Some(last) => text.char_indices().rev().nth(last).map_or(0, |(at, _)| at),
        None => text.len(),
    };
    let start = on_to_boundary(text, start);
    text.get(start..).unwrap_or_default()
}

/// Moves a cut back until it does not separate a base character from what modifies it.
fn back_to_boundary(text: &str, mut at: usize) -> usize {
    while joins(text, at) {
        at = text.get(..at).and_then(|s| s.char_indices().next_back()).map_or(0, |(i, _)| i);
    }
    at
}

fn on_to_boundary(text: &str, mut at: usize) -> usize {
    while joins(text, at) {
        at += text.get(at..).and_then(|s| s.chars().next()).map_or(1, char::len_utf8);
    }
    at
}

/// Whether the characters around `at` belong to one visible sign: combining marks, joiners,
/// variation selectors, skin tones, the two letters of a flag, a line break of two characters.
fn joins(text: &str, at: usize) -> bool {
    if at == 0 || at >= text.len() {
        return false;
    }
    let Some((before, after)) = text.split_at_checked(at) else { return true };
    match (before.chars().next_back(), after.chars().next()) {
        (Some('\u{200d}'), _) | (Some('\r'), Some('\n')) => true,
        (Some(a), Some(b)) if is_flag_letter(a) && is_flag_letter(b) => splits_a_flag(before),
        (_, after) => after.is_some_and(extends),
    }
}

fn is_flag_letter(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

/// Flags are pairs of letters, counted from where the letters begin. A long run of them is no
/// text, so the count is bounded.
fn splits_a_flag(before: &str) -> bool {
    before.chars().rev().take(FLAG_LETTERS).take_while(|c| is_flag_letter(*c)).count() % 2 == 1
}

/// How far back the letters of flags are counted.
const FLAG_LETTERS: usize = 256;

fn extends(c: char) -> bool {
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
