//! The fast path for events that are written exactly as the service writes them: they are read
//! without a JSON parser. Any other event is left to the parser, which gives the same result more
//! slowly.

use std::borrow::Cow;

use super::flat_object::FlatObject;

/// An event that the fast path recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FastEvent<'a> {
    /// The start of a block.
    BlockStart { index: u64, block: FlatObject<'a> },
    /// A delta of a block.
    Delta { index: u64, of: DeltaKind, piece: DeltaText<'a> },
    /// The end of a block.
    BlockStop { index: u64 },
    /// The end of the message.
    MessageStop,
}

/// What a delta belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeltaKind {
    Text,
    Thinking,
    Arguments,
}

/// A string as it was written, with what is known about its escapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DeltaText<'a> {
    pub(super) escaped: &'a str,
    escaping: StringEscaping,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum StringEscaping {
    /// The text has no escapes.
    Plain,
    /// The text has only escapes of two characters.
    SimpleEscapes,
    /// The text has other escapes; this is the decoded text.
    Decoded(String),
}

impl<'a> DeltaText<'a> {
    /// Returns the decoded text.
    pub(super) fn to_text(&self) -> Cow<'a, str> {
        match &self.escaping {
            StringEscaping::Plain => Cow::Borrowed(self.escaped),
            StringEscaping::SimpleEscapes | StringEscaping::Decoded(_) => {
                let mut text = String::with_capacity(self.escaped.len());
                self.append_to(&mut text);
                Cow::Owned(text)
            }
        }
    }

    /// Appends the decoded text.
    pub(super) fn append_to(&self, out: &mut String) {
        match &self.escaping {
            StringEscaping::Plain => out.push_str(self.escaped),
            StringEscaping::Decoded(text) => out.push_str(text),
            StringEscaping::SimpleEscapes => {
                let mut rest = self.escaped;
                while let Some((before, after)) = rest.split_once('\\') {
                    out.push_str(before);
                    let mut characters = after.chars();
                    out.extend(characters.next().and_then(unescape_char));
                    rest = characters.as_str();
                }
                out.push_str(rest);
            }
        }
    }
}

/// The character that an escape of two characters stands for, if it is one.
const fn unescape_char(escaped: char) -> Option<char> {
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

/// The text before the string of each kind of delta.
const DELTA_PREFIXES: [(&str, DeltaKind); 3] = [
    (",\"delta\":{\"type\":\"text_delta\",\"text\":", DeltaKind::Text),
    (",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":", DeltaKind::Arguments),
    (",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":", DeltaKind::Thinking),
];

/// Parses an event, if it is one of these.
pub(super) fn parse_fast_event(data: &str) -> Option<FastEvent<'_>> {
    let rest = data.strip_prefix("{\"type\":\"")?;
    let Some(rest) = rest.strip_prefix("content_block_") else {
        return strip_closing_brace(rest.strip_prefix("message_stop\"")?)?
            .is_empty()
            .then_some(FastEvent::MessageStop);
    };
    let (kind, rest) = rest.split_once('"')?;
    let (index, rest) = split_number(rest.strip_prefix(",\"index\":")?)?;
    match kind {
        "delta" => parse_delta(index, rest),
        "start" => parse_block_start(index, rest),
        "stop" => strip_closing_brace(rest)?.is_empty().then_some(FastEvent::BlockStop { index }),
        _ => None,
    }
}

fn parse_delta(index: u64, rest: &str) -> Option<FastEvent<'_>> {
    let found =
        DELTA_PREFIXES.iter().find_map(|(before, of)| Some((rest.strip_prefix(before)?, *of)));
    let (rest, of) = found?;
    Some(FastEvent::Delta {
        index,
        of,
        piece: parse_string(strip_closing_brace(rest)?.strip_suffix('}')?)?,
    })
}

fn parse_block_start(index: u64, rest: &str) -> Option<FastEvent<'_>> {
    let block = strip_closing_brace(rest.strip_prefix(",\"content_block\":")?)?;
    Some(FastEvent::BlockStart { index, block: FlatObject::parse(block)? })
}

/// The text before the last brace. The service pads with spaces there.
fn strip_closing_brace(rest: &str) -> Option<&str> {
    Some(rest.strip_suffix('}')?.trim_end_matches(' '))
}

/// Splits off an integer, as JSON writes it.
fn split_number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit())?;
    let (digits, rest) = text.split_at_checked(end)?;
    let plain = digits == "0" || !digits.starts_with('0');
    Some((digits.parse().ok().filter(|_| plain)?, rest))
}

fn parse_string(quoted: &str) -> Option<DeltaText<'_>> {
    let escaped = quoted.strip_prefix('"')?.strip_suffix('"')?;
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    // Without an early exit the compiler vectorises the loop.
    let escaping = if escaped.bytes().fold(true, |plain, byte| plain & is_plain(byte)) {
        StringEscaping::Plain
    } else if has_only_simple_escapes(escaped) {
        StringEscaping::SimpleEscapes
    } else {
        StringEscaping::Decoded(serde_json::from_str(quoted).ok()?)
    };
    Some(DeltaText { escaped, escaping })
}

/// Returns whether everything that needs an escape has one of two characters.
fn has_only_simple_escapes(text: &str) -> bool {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let fine = match character {
            '\\' => characters.next().and_then(unescape_char).is_some(),
            other => other >= ' ' && other != '"',
        };
        if !fine {
            return false;
        }
    }
    true
}
