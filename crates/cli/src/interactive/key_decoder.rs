//! Decodes the bytes of a terminal into keys: characters, control keys, escape sequences and
//! bracketed paste. Pieces may end anywhere; an unknown sequence is dropped as a whole.

#[cfg(test)]
#[path = "key_decoder_tests.rs"]
mod key_decoder_tests;

/// Maximum bytes of one paste; more of it is dropped.
pub(super) const MAX_PASTE_BYTES: usize = 16 << 20;

/// Maximum bytes of an escape sequence; a longer one is not a key.
const MAX_SEQUENCE_BYTES: usize = 32;

const PASTE_BEGIN: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// A key, or a paste.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    /// A character, or what an input method composed.
    Char(char),
    /// A letter with Ctrl.
    Ctrl(char),
    /// A character with Alt.
    Alt(char),
    Enter,
    AltEnter,
    Tab,
    BackTab,
    Backspace,
    AltBackspace,
    Delete,
    Left,
    Right,
    Up,
    Down,
    WordLeft,
    WordRight,
    Home,
    End,
    PageUp,
    PageDown,
    Escape,
    /// Pasted text, with line feeds as line breaks.
    Paste(String),
    /// The position of the cursor, as an answer of the terminal: row and column from 1.
    CursorAt(u16, u16),
}

/// Decodes bytes as they arrive.
#[derive(Debug, Default)]
pub(super) struct KeyDecoder {
    pending: Vec<u8>,
    /// The paste that is arriving, and how many of its bytes were dropped.
    paste: Option<Vec<u8>>,
}

/// What the bytes at the front are.
enum Decoded {
    /// More bytes are needed.
    Incomplete,
    /// So many bytes, which are a key or nothing.
    Key(Option<Key>, usize),
    PasteBegins,
}

impl KeyDecoder {
    /// Takes the next bytes and returns the keys that are complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.pending.extend_from_slice(bytes);
        let mut keys = Vec::new();
        let mut at = 0;
        loop {
            let rest = self.pending.get(at..).unwrap_or_default();
            if let Some(paste) = &mut self.paste {
                let (taken, is_over) = take_paste(paste, rest);
                at += taken;
                if !is_over {
                    break;
                }
                keys.extend(self.paste.take().map(|paste| Key::Paste(paste_text(&paste))));
                continue;
            }
            if rest.is_empty() {
                break;
            }
            match decode(rest) {
                Decoded::Incomplete => break,
                Decoded::Key(key, length) => {
                    keys.extend(key);
                    at += length.max(1);
                }
                Decoded::PasteBegins => {
                    self.paste = Some(Vec::new());
                    at += PASTE_BEGIN.len();
                }
            }
        }
        self.pending.drain(..at);
        keys
    }

    /// Whether bytes wait for the rest of their sequence.
    pub(super) fn is_waiting(&self) -> bool {
        !self.pending.is_empty() && self.paste.is_none()
    }

    /// Ends the waiting: an escape character that nothing follows is the key.
    pub(super) fn flush(&mut self) -> Vec<Key> {
        if self.paste.is_some() {
            return Vec::new();
        }
        let pending = std::mem::take(&mut self.pending);
        match pending.split_first() {
            None => Vec::new(),
            Some((0x1b, [])) => vec![Key::Escape],
            Some((0x1b, rest)) if rest == b"\x1b" => vec![Key::Escape, Key::Escape],
            Some((0x1b, rest)) => {
                let text = String::from_utf8_lossy(rest);
                text.chars().next().map(Key::Alt).into_iter().collect()
            }
            Some(_) => Vec::new(),
        }
    }
}

/// Takes bytes of a paste up to its end mark; a mark may be split between two pieces.
fn take_paste(paste: &mut Vec<u8>, rest: &[u8]) -> (usize, bool) {
    let end = rest.windows(PASTE_END.len()).position(|window| window == PASTE_END);
    let held = PASTE_END.len() - 1;
    let taken = end.unwrap_or(rest.len().saturating_sub(held));
    let room = MAX_PASTE_BYTES.saturating_sub(paste.len());
    paste.extend(rest.iter().take(taken.min(room)));
    match end {
        Some(end) => (end + PASTE_END.len(), true),
        None => (taken, false),
    }
}

fn paste_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

fn decode(bytes: &[u8]) -> Decoded {
    match bytes {
        [0x1b] => Decoded::Incomplete,
        [0x1b, b'[', ..] => decode_csi(bytes),
        [0x1b, b'O', rest @ ..] => match rest {
            [] => Decoded::Incomplete,
            [last, ..] => Decoded::Key(cursor_key(*last, false), 3),
        },
        // An escape before another sequence is a key by itself.
        [0x1b, 0x1b, ..] => Decoded::Key(Some(Key::Escape), 1),
        [0x1b, b'\r' | b'\n', ..] => Decoded::Key(Some(Key::AltEnter), 2),
        [0x1b, 0x7f | 0x08, ..] => Decoded::Key(Some(Key::AltBackspace), 2),
        [0x1b, rest @ ..] => match decode_char(rest) {
            Some(Some((c, length))) => Decoded::Key(alt_key(c), length + 1),
            Some(None) => Decoded::Key(None, 2),
            None => Decoded::Incomplete,
        },
        [first, ..] if *first < 0x20 || *first == 0x7f => {
            Decoded::Key(Some(control_key(*first)), 1)
        }
        _ => match decode_char(bytes) {
            Some(Some((c, length))) => Decoded::Key(Some(Key::Char(c)), length),
            Some(None) => Decoded::Key(None, 1),
            None => Decoded::Incomplete,
        },
    }
}

/// The character at the front: `None` if it is incomplete, `Some(None)` if it is not one.
fn decode_char(bytes: &[u8]) -> Option<Option<(char, usize)>> {
    let length = match bytes.first()? {
        0x00..0x80 => 1,
        0xc2..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf5 => 4,
        _ => return Some(None),
    };
    let piece = bytes.get(..length)?;
    let text = std::str::from_utf8(piece).ok();
    let c = text.and_then(|text| text.chars().next()).filter(|c| !c.is_control());
    Some(c.map(|c| (c, length)))
}

fn alt_key(c: char) -> Option<Key> {
    match c {
        'b' => Some(Key::WordLeft),
        'f' => Some(Key::WordRight),
        c => Some(Key::Alt(c)),
    }
}

fn control_key(byte: u8) -> Key {
    match byte {
        b'\r' => Key::Enter,
        b'\t' => Key::Tab,
        0x7f | 0x08 => Key::Backspace,
        0x00 => Key::Ctrl(' '),
        byte @ 0x01..=0x1a => Key::Ctrl(char::from(byte + 0x60)),
        byte => Key::Ctrl(char::from(byte.wrapping_add(0x40))),
    }
}

fn decode_csi(bytes: &[u8]) -> Decoded {
    if bytes.starts_with(PASTE_BEGIN) {
        return Decoded::PasteBegins;
    }
    let body = bytes.get(2..).unwrap_or_default();
    // The Linux console sends function keys with a second bracket.
    let skipped = usize::from(body.first() == Some(&b'['));
    let end = body.iter().skip(skipped).position(|byte| (0x40..=0x7e).contains(byte));
    let Some(end) = end else {
        return match bytes.len() > MAX_SEQUENCE_BYTES {
            true => Decoded::Key(None, bytes.len()),
            false => Decoded::Incomplete,
        };
    };
    let parameters = body.get(..end + skipped).unwrap_or_default();
    let last = body.get(end + skipped).copied().unwrap_or_default();
    let length = end + skipped + 3;
    if skipped > 0 || !parameters.iter().all(|byte| byte.is_ascii_digit() || *byte == b';') {
        return Decoded::Key(None, length);
    }
    let text = String::from_utf8_lossy(parameters);
    let numbers: Vec<u16> = text.split(';').map(|number| number.parse().unwrap_or(0)).collect();
    Decoded::Key(csi_key(&numbers, last), length)
}

fn csi_key(numbers: &[u16], last: u8) -> Option<Key> {
    let first = numbers.first().copied().unwrap_or(0);
    let modifiers = numbers.get(1).copied().unwrap_or(1).saturating_sub(1);
    // Alt or Ctrl moves by words.
    let by_word = modifiers & 0b110 != 0;
    match last {
        b'~' => match first {
            1 | 7 => Some(Key::Home),
            3 => Some(Key::Delete),
            4 | 8 => Some(Key::End),
            5 => Some(Key::PageUp),
            6 => Some(Key::PageDown),
            27 if numbers.get(2) == Some(&13) => Some(enter_with(modifiers)),
            _ => None,
        },
        b'u' => match first {
            13 => Some(enter_with(modifiers)),
            9 if modifiers & 1 != 0 => Some(Key::BackTab),
            9 => Some(Key::Tab),
            27 => Some(Key::Escape),
            127 => Some(Key::Backspace),
            _ => modified_char(first, modifiers),
        },
        b'R' if numbers.len() == 2 => Some(Key::CursorAt(first, modifiers + 1)),
        b'Z' => Some(Key::BackTab),
        last => cursor_key(last, by_word),
    }
}

/// Enter with Shift or Alt does not send.
fn enter_with(modifiers: u16) -> Key {
    match modifiers {
        0 => Key::Enter,
        // Shift
        1 => Key::Ctrl('j'),
        _ => Key::AltEnter,
    }
}

fn modified_char(code: u16, modifiers: u16) -> Option<Key> {
    let c = char::from_u32(u32::from(code)).filter(|c| !c.is_control())?;
    Some(match modifiers {
        0 | 1 => Key::Char(c),
        modifiers if modifiers & 0b100 != 0 => Key::Ctrl(c.to_ascii_lowercase()),
        _ => alt_key(c)?,
    })
}

fn cursor_key(last: u8, by_word: bool) -> Option<Key> {
    Some(match (last, by_word) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'C', false) => Key::Right,
        (b'C', true) => Key::WordRight,
        (b'D', false) => Key::Left,
        (b'D', true) => Key::WordLeft,
        (b'H', _) => Key::Home,
        (b'F', _) => Key::End,
        (b'M', _) => Key::Enter,
        _ => return None,
    })
}
