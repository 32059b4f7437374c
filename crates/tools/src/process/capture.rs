//! Head and tail of a stream of bytes, in bounded memory.

use std::collections::VecDeque;

use crate::limits::{HEAD_BYTES, TAIL_BYTES};

#[derive(Debug, Default)]
pub(super) struct HeadTailCapture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    omitted: u64,
}

impl HeadTailCapture {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let remaining = HEAD_BYTES.saturating_sub(self.head.len());
        let (head, rest) = bytes.split_at_checked(remaining).unwrap_or((bytes, &[]));
        self.head.extend_from_slice(head);
        self.push_tail(rest);
    }

    fn push_tail(&mut self, bytes: &[u8]) {
        let skipped = bytes.len().saturating_sub(TAIL_BYTES);
        let kept = bytes.get(skipped..).unwrap_or_default();
        let excess = (self.tail.len() + kept.len()).saturating_sub(TAIL_BYTES);
        self.tail.drain(..excess);
        self.tail.extend(kept);
        self.omitted = self.omitted.saturating_add((skipped + excess) as u64);
    }

    /// Returns the kept bytes as text, with a note about what was omitted. Bytes that are not UTF-8
    /// become the replacement character.
    pub(super) fn to_text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.omitted == 0 {
            return String::from_utf8_lossy(&[self.head.as_slice(), &tail].concat()).into_owned();
        }
        let (head, tail) = (without_torn_end(&self.head), without_torn_start(&tail));
        let torn = self.head.len() - head.len() + self.tail.len() - tail.len();
        let omitted = self.omitted.saturating_add(torn as u64);
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        format!("{head}\n[… {omitted} bytes omitted …]\n{tail}")
    }
}

/// Removes an incomplete character at the end of the head.
fn without_torn_end(bytes: &[u8]) -> &[u8] {
    match bytes.utf8_chunks().last() {
        Some(last) if is_torn(last.invalid()) => {
            bytes.get(..bytes.len() - last.invalid().len()).unwrap_or(bytes)
        }
        Some(_) | None => bytes,
    }
}

/// Returns whether the bytes begin a character that needs more of them.
fn is_torn(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// Removes an incomplete character at the start of the tail: at most three continuation bytes.
fn without_torn_start(bytes: &[u8]) -> &[u8] {
    let torn = bytes.iter().take(3).take_while(|byte| (0x80..0xc0).contains(*byte)).count();
    bytes.get(torn..).unwrap_or_default()
}
