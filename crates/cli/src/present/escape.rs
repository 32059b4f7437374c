//! Characters that a terminal would obey or a person could not see, written out.
//!
//! They are written as JSON writes them (`\u202e`), so that the same function can stand at the edge of
//! text and of JSON.

use crate::show::Colours;

#[cfg(test)]
#[path = "escape_tests.rs"]
mod escape_tests;

/// The sequences that our own colours consist of.
const OUR_COLOURS: [&str; 10] = ["0", "1", "2", "3", "4", "9", "31", "32", "33", "36"];

/// The text of what somebody is to approve: every control, invisible or direction-changing character
/// is written out, and so is every blank but the ordinary one. Lines stay lines.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || turns_writing(c) || is_unseen(c) => write_out(c, &mut out),
            c => out.push(c),
        }
    }
    out
}

/// The last look at everything that is printed: of the sequences that a terminal obeys only our own
/// colours are left. Ids, titles and what tools wrote cannot bring any others.
pub(crate) fn sanitize_output(text: &str, colours: Colours) -> String {
    if !text.chars().any(|c| (c.is_control() && c != '\n') || turns_writing(c)) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(colour) = our_colour(rest).filter(|_| colours == Colours::Shown) {
            out.push_str(colour);
            rest = rest.get(colour.len()..).unwrap_or_default();
            continue;
        }
        match c {
            '\n' | '\t' => out.push(c),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || turns_writing(c) => write_out(c, &mut out),
            c => out.push(c),
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    out
}

/// The sequence that the text begins with, if it is a colour of ours.
fn our_colour(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("\u{1b}[")?;
    let end = inside.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    let (codes, after) = inside.split_at_checked(end)?;
    let ours = codes.split(';').all(|code| OUR_COLOURS.contains(&code));
    (ours && after.starts_with('m')).then(|| text.get(..end.saturating_add(3)))?
}

fn write_out(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        out.push_str(&format!("\\u{unit:04x}"));
    }
}

/// Characters that change the direction of writing.
pub(crate) fn turns_writing(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Characters that take no room, or that look like a blank and are none.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{1680}'
        | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200d}'
        | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}'..='\u{2065}' | '\u{206a}'..='\u{206f}'
        | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
