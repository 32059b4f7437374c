//! Text that is safe to print: sanitized, cut to a length, wrapped to a width. Text of models and
//! tools must not send control sequences.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::escape::is_bidi_control;

/// The text without control sequences and direction changes: output of a model or a tool must not
/// overwrite ours. Programs that want every byte read JSON.
pub(crate) fn sanitize_text(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => Some(c),
        '\r' => None,
        c if c.is_control() || is_bidi_control(c) => Some('\u{fffd}'),
        c => Some(c),
    };
    text.chars().filter_map(shown).collect()
}

/// Breaks a line between words, and inside of words that are too long themselves.
pub(super) fn wrap_line(line: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut last = String::new();
    for word in line.split_inclusive(' ') {
        let fits = last.width() + word.trim_end().width() <= columns;
        if !fits && !last.trim().is_empty() {
            lines.push(std::mem::take(&mut last).trim_end().to_owned());
        }
        for piece in word.chars() {
            if last.width() + piece.width().unwrap_or(0) > columns && piece != ' ' {
                lines.push(std::mem::take(&mut last));
            }
            last.push(piece);
        }
    }
    lines.push(last.trim_end().to_owned());
    lines
}

/// The text without characters that a terminal would interpret; tabs become spaces.
pub(crate) fn sanitize_line(text: &str) -> String {
    sanitize_text(text).replace('\t', " ")
}

/// The text on one line, cut after this many characters.
pub(crate) fn to_one_line(text: &str, chars: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    truncate(&sanitize_line(&words.join(" ")), chars)
}

/// The beginning of the text, with a mark if there is more.
pub(crate) fn truncate(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some(_) => {
            let head: String = text.chars().take(chars.saturating_sub(1)).collect();
            format!("{head}…")
        }
    }
}

/// Wraps text between words. Continued lines start with `indent` spaces. A word that is longer than
/// a line is left to the terminal.
pub(crate) fn wrap_words(text: &str, columns: usize, indent: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_inclusive(' ') {
        let is_begun = !line.trim().is_empty();
        if is_begun && line.width() + word.trim_end().width() > columns {
            lines.push(line.trim_end().to_owned());
            line = " ".repeat(indent);
        }
        line.push_str(word);
    }
    lines.push(line.trim_end().to_owned());
    lines.join("\n")
}

/// Choices on one line, two spaces apart, if they fit; else one per line.
pub(crate) fn wrap_choices(choices: &str, columns: usize) -> String {
    // The answer is typed after them.
    if choices.width() + 1 < columns {
        return choices.to_owned();
    }
    let lines = choices.split("  ").map(|choice| wrap_words(choice, columns, 4));
    lines.collect::<Vec<_>>().join("\n")
}

/// The beginning of a text that fits into this many columns, with a mark if there is more.
pub(crate) fn fit_columns(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut remaining = columns.saturating_sub(1);
    let fits = |c: &char| {
        let rest = remaining.checked_sub(c.width().unwrap_or(0));
        remaining = rest.unwrap_or(0);
        rest.is_some()
    };
    let mut head: String = text.chars().take_while(fits).collect();
    head.push('…');
    head
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod text_tests;
