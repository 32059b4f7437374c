//! Reads lines of any length in bounded memory.

use std::io::{self, BufRead};

use crate::limits::{MAX_LINE_BYTES, MAX_SCAN_BYTES};

/// A line, or the beginning of a long one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct BoundedLine {
    /// The first bytes of the line, without its line ending.
    pub(crate) bytes: Vec<u8>,
    /// The number of further bytes, which were omitted.
    pub(crate) omitted: u64,
}

/// Reads lines one after the other, each into the buffer of the last.
pub(crate) struct BoundedLines<R> {
    reader: R,
    scanned_bytes: u64,
    line: BoundedLine,
}

impl<R: BufRead> BoundedLines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, scanned_bytes: 0, line: BoundedLine::default() }
    }

    /// Reads the next line; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<&mut BoundedLine>> {
        Ok(self.read_line(MAX_LINE_BYTES)?.map(|()| &mut self.line))
    }

    /// Skips the next line; `None` at the end.
    pub(crate) fn skip_line(&mut self) -> io::Result<Option<()>> {
        self.read_line(0)
    }

    fn read_line(&mut self, keep: usize) -> io::Result<Option<()>> {
        self.line.clear();
        let mut found = None;
        loop {
            let bytes = self.reader.fill_buf()?;
            if bytes.is_empty() {
                return Ok(found);
            }
            let end = memchr::memchr(b'\n', bytes);
            let text = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
            self.line.push(text, keep);
            found = Some(());
            let taken = text.len() + usize::from(end.is_some());
            self.reader.consume(taken);
            self.count_scanned(taken)?;
            if end.is_some() {
                return Ok(found);
            }
        }
    }

    fn count_scanned(&mut self, taken: usize) -> io::Result<()> {
        self.scanned_bytes = self.scanned_bytes.saturating_add(taken as u64);
        if self.scanned_bytes > MAX_SCAN_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(())
    }
}

impl BoundedLine {
    fn clear(&mut self) {
        self.bytes.clear();
        self.omitted = 0;
    }

    fn push(&mut self, bytes: &[u8], keep: usize) {
        let remaining = keep.saturating_sub(self.bytes.len());
        let (kept, omitted) = bytes.split_at_checked(remaining).unwrap_or((bytes, &[]));
        self.bytes.extend_from_slice(kept);
        self.omitted = self.omitted.saturating_add(omitted.len() as u64);
    }
}
