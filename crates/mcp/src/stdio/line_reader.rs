//! Reads lines of bounded length.

use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes that are read at once.
const READ_BYTES: usize = 16 << 10;

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReadLine {
    /// A line without its end.
    Line(Vec<u8>),
    /// The line exceeds the limit.
    TooLong,
    /// There is nothing more to read.
    End,
}

/// Reads lines of bounded length.
pub(super) struct LineReader {
    source: Box<dyn AsyncRead + Send + Unpin>,
    buffer: Vec<u8>,
    /// The position up to which no line end was found.
    searched: usize,
    max_bytes: usize,
    /// Whether what comes up to the next line end is dropped.
    is_skipping: bool,
}

impl LineReader {
    pub(super) fn new(source: Box<dyn AsyncRead + Send + Unpin>, max_bytes: usize) -> Self {
        Self { source, buffer: Vec::new(), searched: 0, max_bytes, is_skipping: false }
    }

    /// Returns the next line.
    pub(super) async fn next_line(&mut self) -> ReadLine {
        loop {
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            if let Some(offset) = unsearched.iter().position(|byte| *byte == b'\n') {
                let end = self.searched + offset;
                self.searched = 0;
                let mut line: Vec<u8> = self.buffer.drain(..=end).collect();
                line.pop();
                if std::mem::take(&mut self.is_skipping) {
                    continue;
                }
                return ReadLine::Line(line);
            }
            self.searched = self.buffer.len();
            if self.is_skipping {
                self.buffer.clear();
                self.searched = 0;
            } else if self.buffer.len() > self.max_bytes {
                return ReadLine::TooLong;
            }
            if !self.fill().await {
                self.searched = 0;
                let rest = std::mem::take(&mut self.buffer);
                let is_rest = !rest.is_empty() && !self.is_skipping;
                return if is_rest { ReadLine::Line(rest) } else { ReadLine::End };
            }
        }
    }

    /// Drops the line that is too long.
    pub(super) fn skip_line(&mut self) {
        self.is_skipping = true;
    }

    async fn fill(&mut self) -> bool {
        self.buffer.reserve(READ_BYTES);
        matches!(self.source.read_buf(&mut self.buffer).await, Ok(count) if count > 0)
    }
}
