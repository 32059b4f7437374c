//! Lines of any length in bounded memory.

use std::io::{self, BufRead};

use crate::limits::{MAX_LINE_BYTES, MAX_SCAN_BYTES};

/// A line, or the beginning of one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// Its first bytes, without the line's end.
    pub(super) kept: Vec<u8>,
    /// How many more it has.
    pub(super) omitted: u64,
}

/// Reads lines one after the other, each into the room of the last.
pub(super) struct Lines<R> {
    from: R,
    scanned: u64,
    line: Line,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, scanned: 0, line: Line::default() }
    }

    /// The next line. `None` is the end.
    pub(super) fn next(&mut self) -> io::Result<Option<&mut Line>> {
        Ok(self.line(MAX_LINE_BYTES)?.map(|()| &mut self.line))
    }

    /// Passes over the next line.
    pub(super) fn skip(&mut self) -> io::Result<Option<()>> {
        self.line(0)
    }

    fn line(&mut self, keep: usize) -> io::Result<Option<()>> {
        self.line.clear();
        let mut found = None;
        loop {
            let bytes = self.from.fill_buf()?;
            if bytes.is_empty() {
                return Ok(found);
            }
            let end = memchr::memchr(b'\n', bytes);
            let text = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
            self.line.push(text, keep);
            found = Some(());
            let taken = text.len() + usize::from(end.is_some());
            self.from.consume(taken);
            self.count(taken)?;
            if end.is_some() {
                return Ok(found);
            }
        }
    }

    fn count(&mut self, taken: usize) -> io::Result<()> {
        self.scanned = self.scanned.saturating_add(taken as u64);
        if self.scanned > MAX_SCAN_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(())
    }
}

impl Line {
    fn clear(&mut self) {
        self.kept.clear();
        self.omitted = 0;
    }

    fn push(&mut self, bytes: &[u8], keep: usize) {
        let room = keep.saturating_sub(self.kept.len());
        let (kept, omitted) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.kept.extend_from_slice(kept);
        self.omitted = self.omitted.saturating_add(omitted.len() as u64);
    }
}
