//! Text of servers, made safe to show.

/// Returns the text without control characters and without characters that hide or reorder text,
/// cut to a length.
pub(crate) fn plain_text(text: &str, max_chars: usize) -> String {
    text.chars().filter(|c| is_plain(*c)).take(max_chars).collect()
}

fn is_plain(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        // Zero-width characters, marks of direction, and tags: a person does not see them, a model
        // does.
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' => false,
        '\u{feff}' | '\u{e0000}'..='\u{e007f}' => false,
        other => !other.is_control(),
    }
}
