//! Bytes that only grow at the end, kept in few pieces.
//!
//! A new piece is merged with its neighbours while they are about as small, so there are never more
//! than a few dozen, each byte is copied a few times in its life, and sending copies none.

use bytes::{Bytes, BytesMut};

#[derive(Debug, Default)]
pub(crate) struct Rope {
    pieces: Vec<Bytes>,
    bytes: usize,
}

impl Rope {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds at the end.
    pub(crate) fn push(&mut self, piece: Bytes) {
        if piece.is_empty() {
            return;
        }
        self.bytes += piece.len();
        let mut last = piece;
        while let Some(before) = self.pieces.pop_if(|before| before.len() <= 2 * last.len()) {
            last = joined(&before, &last);
        }
        self.pieces.push(last);
    }

    /// Forgets everything from `bytes` on.
    pub(crate) fn truncate(&mut self, bytes: usize) {
        while self.bytes > bytes
            && let Some(mut last) = self.pieces.pop()
        {
            let start = self.bytes - last.len();
            self.bytes = start;
            if bytes > start {
                last.truncate(bytes - start);
                self.bytes += last.len();
                self.pieces.push(last);
            }
        }
    }

    /// Appends the bytes from `start` to `end` to `out`, without copying them.
    pub(crate) fn share(&self, start: usize, end: usize, out: &mut Vec<Bytes>) {
        let mut at = 0;
        for piece in &self.pieces {
            let (from, to) = (start.clamp(at, at + piece.len()), end.clamp(at, at + piece.len()));
            if from < to {
                out.push(piece.slice(from - at..to - at));
            }
            at += piece.len();
        }
    }
}

fn joined(a: &Bytes, b: &Bytes) -> Bytes {
    let mut both = BytesMut::with_capacity(a.len() + b.len());
    both.extend_from_slice(a);
    both.extend_from_slice(b);
    both.freeze()
}
