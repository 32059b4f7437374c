//! Text as JSON writes it between quotes, as serde would, but many bytes at a time: results of tools
//! are long, and most of what they say needs no escape.

#[cfg(test)]
#[path = "escape_tests.rs"]
mod escape_tests;

/// Bytes looked at together.
const CHUNK: usize = 16;

/// Adds the text with its quotes.
pub(super) fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some((plain, byte, after)) = split(rest) {
        out.push_str(plain);
        push_escaped(out, byte);
        rest = after;
    }
    out.push_str(rest);
    out.push('"');
}

/// What stands before the first byte that needs an escape, the byte, and what stands after it.
fn split(text: &str) -> Option<(&str, u8, &str)> {
    let at = plain_bytes(text.as_bytes());
    let byte = *text.as_bytes().get(at)?;
    // Such a byte is a character of its own.
    Some((text.get(..at)?, byte, text.get(at + 1..)?))
}

fn plain_bytes(bytes: &[u8]) -> usize {
    let (chunks, _) = bytes.as_chunks::<CHUNK>();
    // Without a way out in the middle the compiler looks at a chunk at once.
    let is_plain_chunk =
        |chunk: &&[u8; CHUNK]| chunk.iter().fold(true, |all, b| all & is_plain(*b));
    let skipped = CHUNK * chunks.iter().take_while(is_plain_chunk).count();
    let rest = bytes.get(skipped..).unwrap_or_default();
    skipped + rest.iter().take_while(|byte| is_plain(**byte)).count()
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
