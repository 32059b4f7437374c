//! Escapes characters that a terminal would interpret or a person could not see.
//!
//! They are written as in JSON (`\u202e`), so that the same function works for text and for JSON.

use crate::terminal::ColorSupport;

#[cfg(test)]
#[path = "escape_tests.rs"]
mod escape_tests;

/// The color codes of our own output.
const ALLOWED_COLOR_CODES: [&str; 11] =
    ["0", "1", "2", "3", "4", "9", "31", "32", "33", "35", "36"];

/// Escapes text that a person approves: every control, invisible or direction-changing character,
/// and every space but the ordinary one. Line breaks stay.
pub(crate) fn escape_invisible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || is_bidi_control(c) || is_invisible(c) => {
                push_escaped(c, &mut out);
            }
            c => out.push(c),
        }
    }
    out
}

/// The last filter of everything that is printed: of all terminal sequences only our own colors
/// remain. Ids, titles and output of tools cannot bring any others.
pub(crate) fn sanitize_output(text: &str, colours: ColorSupport) -> String {
    if !text.chars().any(|c| (c.is_control() && c != '\n') || is_bidi_control(c)) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(colour) = leading_color_code(rest).filter(|_| colours == ColorSupport::Enabled)
        {
            out.push_str(colour);
            rest = rest.get(colour.len()..).unwrap_or_default();
            continue;
        }
        match c {
            '\n' | '\t' => out.push(c),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || is_bidi_control(c) => push_escaped(c, &mut out),
            c => out.push(c),
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    out
}

/// The color code at the start of the text, if it is one of ours.
fn leading_color_code(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("\u{1b}[")?;
    let end = inside.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    let (codes, after) = inside.split_at_checked(end)?;
    let ours = codes.split(';').all(|code| ALLOWED_COLOR_CODES.contains(&code));
    (ours && after.starts_with('m')).then(|| text.get(..end.saturating_add(3)))?
}

fn push_escaped(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        out.push_str(&format!("\\u{unit:04x}"));
    }
}

/// Returns whether the character changes the direction of writing.
pub(crate) fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns whether the character has no width, or looks like a space without being one.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{1680}'
        | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200d}'
        | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}'..='\u{2065}' | '\u{206a}'..='\u{206f}'
        | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
