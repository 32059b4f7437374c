//! Head and tail of a stream of bytes, in bounded memory.

use std::collections::VecDeque;

use crate::limits::{HEAD_BYTES, TAIL_BYTES};

#[derive(Debug, Default)]
pub(super) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    omitted: u64,
}

impl Capture {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = HEAD_BYTES.saturating_sub(self.head.len());
        let (head, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
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

    /// What was kept as text, saying what was not. What is no UTF-8 becomes the sign for it.
    pub(super) fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.omitted == 0 {
            return String::from_utf8_lossy(&[self.head.as_slice(), &tail].concat()).into_owned();
        }
        let (head, tail) = (whole_end(&self.head), whole_start(&tail));
        let torn = self.head.len() - head.len() + self.tail.len() - tail.len();
        let omitted = self.omitted.saturating_add(torn as u64);
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        format!("{head}\n[… {omitted} bytes omitted …]\n{tail}")
    }
}

/// Without a character that the cut tore at the end.
fn whole_end(bytes: &[u8]) -> &[u8] {
    match bytes.utf8_chunks().last() {
        Some(last) if is_torn(last.invalid()) => {
            bytes.get(..bytes.len() - last.invalid().len()).unwrap_or(bytes)
        }
        Some(_) | None => bytes,
    }
}

/// Whether the bytes begin a character that needs more of them.
fn is_torn(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// Without a character that the cut tore at the start: at most three bytes that continue one.
fn whole_start(bytes: &[u8]) -> &[u8] {
    let torn = bytes.iter().take(3).take_while(|byte| (0x80..0xc0).contains(*byte)).count();
    bytes.get(torn..).unwrap_or_default()
}
