//! Events that are written exactly as the service writes them, read without a parser. One that
//! is not, or that holds anything in doubt, is left to the parser, which gives the same answer more
//! slowly.

use std::borrow::Cow;

use super::flat::Flat;

/// An event that was recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Quick<'a> {
    /// The beginning of a block.
    Start { index: u64, block: Flat<'a> },
    /// A piece of a block.
    Piece { index: u64, of: Of, piece: Piece<'a> },
    /// The end of a block.
    Stop { index: u64 },
    /// The end of the message.
    End,
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
    said: Said,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Said {
    /// What stands there.
    Plain,
    /// The same after escapes of two characters.
    Escaped,
    /// This.
    Text(String),
}

impl<'a> Piece<'a> {
    /// What it says.
    pub(super) fn text(&self) -> Cow<'a, str> {
        match &self.said {
            Said::Plain => Cow::Borrowed(self.escaped),
            Said::Escaped | Said::Text(_) => {
                let mut text = String::with_capacity(self.escaped.len());
                self.add_to(&mut text);
                Cow::Owned(text)
            }
        }
    }

    /// Adds what it says.
    pub(super) fn add_to(&self, out: &mut String) {
        match &self.said {
            Said::Plain => out.push_str(self.escaped),
            Said::Text(text) => out.push_str(text),
            Said::Escaped => {
                let mut rest = self.escaped;
                while let Some((before, after)) = rest.split_once('\\') {
                    out.push_str(before);
                    let mut characters = after.chars();
                    out.extend(characters.next().and_then(meant));
                    rest = characters.as_str();
                }
                out.push_str(rest);
            }
        }
    }
}

/// What a character means after a backslash, if that is all there is to know.
const fn meant(escaped: char) -> Option<char> {
    match escaped {
        '"' | '\\' | '/' => Some(escaped),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'b' => Some('\u{8}'),
        'f' => Some('\u{c}'),
        _ => None,
    }
}

/// What stands before the string of each kind of piece.
const KINDS: [(&str, Of); 3] = [
    (",\"delta\":{\"type\":\"text_delta\",\"text\":", Of::Text),
    (",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":", Of::Arguments),
    (",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":", Of::Thinking),
];

/// Reads an event, if it is one of these.
pub(super) fn read(data: &str) -> Option<Quick<'_>> {
    let rest = data.strip_prefix("{\"type\":\"")?;
    let Some(rest) = rest.strip_prefix("content_block_") else {
        return closed(rest.strip_prefix("message_stop\"")?)?.is_empty().then_some(Quick::End);
    };
    let (kind, rest) = rest.split_once('"')?;
    let (index, rest) = number(rest.strip_prefix(",\"index\":")?)?;
    match kind {
        "delta" => piece(index, rest),
        "start" => start(index, rest),
        "stop" => closed(rest)?.is_empty().then_some(Quick::Stop { index }),
        _ => None,
    }
}

fn piece(index: u64, rest: &str) -> Option<Quick<'_>> {
    let found = KINDS.iter().find_map(|(before, of)| Some((rest.strip_prefix(before)?, *of)));
    let (rest, of) = found?;
    Some(Quick::Piece { index, of, piece: string(closed(rest)?.strip_suffix('}')?)? })
}

fn start(index: u64, rest: &str) -> Option<Quick<'_>> {
    let block = closed(rest.strip_prefix(",\"content_block\":")?)?;
    Some(Quick::Start { index, block: Flat::read(block)? })
}

/// What stands before the last brace. The service fills up with spaces there.
fn closed(rest: &str) -> Option<&str> {
    Some(rest.strip_suffix('}')?.trim_end_matches(' '))
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
    let said = if escaped.bytes().fold(true, |plain, byte| plain & is_plain(byte)) {
        Said::Plain
    } else if is_simply_escaped(escaped) {
        Said::Escaped
    } else {
        Said::Text(serde_json::from_str(quoted).ok()?)
    };
    Some(Piece { escaped, said })
}

/// Whether all that needs an escape has one of two characters.
fn is_simply_escaped(text: &str) -> bool {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let fine = match character {
            '\\' => characters.next().and_then(meant).is_some(),
            other => other >= ' ' && other != '"',
        };
        if !fine {
            return false;
        }
    }
    true
}
