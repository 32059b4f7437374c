//! An append-only byte buffer of a few shared chunks.
//!
//! A new chunk is merged with its neighbours while they are about as small, so there are never more
//! than a few dozen chunks, each byte is copied a few times in total, and sending copies none.

use bytes::{Bytes, BytesMut};

#[derive(Debug, Default)]
pub(crate) struct SharedBuffer {
    pieces: Vec<Bytes>,
    bytes: usize,
}

impl SharedBuffer {
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// Appends a chunk.
    pub(crate) fn push(&mut self, chunk: Bytes) {
        if chunk.is_empty() {
            return;
        }
        self.bytes += chunk.len();
        let mut last = chunk;
        while let Some(before) = self.pieces.pop_if(|before| before.len() <= 2 * last.len()) {
            last = concat_bytes(&before, &last);
        }
        self.pieces.push(last);
    }

    /// Drops everything from byte `bytes` on.
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
    pub(crate) fn append_range(&self, start: usize, end: usize, out: &mut Vec<Bytes>) {
        let mut at = 0;
        for chunk in &self.pieces {
            let (from, to) = (start.clamp(at, at + chunk.len()), end.clamp(at, at + chunk.len()));
            if from < to {
                out.push(chunk.slice(from - at..to - at));
            }
            at += chunk.len();
        }
    }
}

fn concat_bytes(a: &Bytes, b: &Bytes) -> Bytes {
    let mut both = BytesMut::with_capacity(a.len() + b.len());
    both.extend_from_slice(a);
    both.extend_from_slice(b);
    both.freeze()
}
