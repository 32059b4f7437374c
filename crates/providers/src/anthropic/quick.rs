//! The commonest events, read without a parser: pieces of text, thoughts and arguments, and the
//! ends of blocks. An event that is not written exactly as the service writes it, or that holds
//! anything in doubt, is left to the parser, which gives the same answer more slowly.

use std::borrow::Cow;

/// An event that was recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Quick<'a> {
    /// A piece of a block.
    Piece { index: u64, of: Of, piece: Piece<'a> },
    /// The end of a block.
    Stop { index: u64 },
}

/// What a piece belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Text,
    Thinking,
    Arguments,
}

/// A string as it was written, and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) escaped: &'a str,
    pub(super) text: Cow<'a, str>,
}

/// What stands before the string of each kind of piece.
const KINDS: [(&str, Of); 3] = [
    (",\"delta\":{\"type\":\"text_delta\",\"text\":", Of::Text),
    (",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":", Of::Arguments),
    (",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":", Of::Thinking),
];

/// Reads an event, if it is one of these.
pub(super) fn read(data: &str) -> Option<Quick<'_>> {
    let rest = data.strip_prefix("{\"type\":\"content_block_")?;
    let Some(rest) = rest.strip_prefix("delta\",\"index\":") else {
        let (index, rest) = number(rest.strip_prefix("stop\",\"index\":")?)?;
        return (rest.trim_start_matches(' ') == "}").then_some(Quick::Stop { index });
    };
    let (index, rest) = number(rest)?;
    let found = KINDS.iter().find_map(|(before, of)| Some((rest.strip_prefix(before)?, *of)));
    let (rest, of) = found?;
    // The service fills up with spaces before the last brace.
    let quoted = rest.strip_suffix('}')?.trim_end_matches(' ').strip_suffix('}')?;
    Some(Quick::Piece { index, of, piece: string(quoted)? })
}

/// A whole number as JSON has it.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit())?;
    let (digits, rest) = text.split_at_checked(end)?;
    let plain = digits == "0" || !digits.starts_with('0');
    Some((digits.parse().ok().filter(|_| plain)?, rest))
}

fn string(quoted: &str) -> Option<Piece<'_>> {
    let escaped = quoted.strip_prefix('"')?.strip_suffix('"')?;
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    // Without a way out in the middle the compiler looks at many bytes at once.
    if escaped.bytes().fold(true, |plain, byte| plain & is_plain(byte)) {
        return Some(Piece { escaped, text: Cow::Borrowed(escaped) });
    }
    let text = serde_json::from_str::<String>(quoted).ok()?;
    Some(Piece { escaped, text: Cow::Owned(text) })
}
