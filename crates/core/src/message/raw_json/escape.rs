//! Escapes text as a JSON string, as serde would, but many bytes at a time: tool results are long,
//! and most of their text needs no escape.

#[cfg(test)]
#[path = "escape_tests.rs"]
mod escape_tests;

/// Bytes that are examined together.
const CHUNK_BYTES: usize = 16;

/// Appends the text with its quotes. Each byte is examined twice at most, however many need an
/// escape: the raw answer of a provider is JSON itself, full of quotes.
pub(super) fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut written = 0;
    for (index, chunk) in text.as_bytes().chunks(CHUNK_BYTES).enumerate() {
        // Without an early exit the compiler can examine a whole chunk at once (SIMD).
        if chunk.iter().fold(true, |all, byte| all & is_plain(*byte)) {
            continue;
        }
        for (offset, byte) in chunk.iter().enumerate().filter(|(_, byte)| !is_plain(**byte)) {
            // Such a byte is a character of its own, so both sides are valid text.
            let at = index * CHUNK_BYTES + offset;
            out.push_str(text.get(written..at).unwrap_or_default());
            push_escaped(out, *byte);
            written = at + 1;
        }
    }
    out.push_str(text.get(written..).unwrap_or_default());
    out.push('"');
}

const fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte != b'"' && byte != b'\\'
}

fn push_escaped(out: &mut String, byte: u8) {
    let short = match byte {
        b'"' => "\\\"",
        b'\\' => "\\\\",
        b'\n' => "\\n",
        b'\r' => "\\r",
        b'\t' => "\\t",
        0x08 => "\\b",
        0x0c => "\\f",
        _ => {
            let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or_default();
            out.push_str("\\u00");
            out.push(digit(byte >> 4));
            return out.push(digit(byte & 15));
        }
    };
    out.push_str(short);
}
