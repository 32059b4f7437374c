//! Decodes server-sent events as bytes arrive.
//!
//! Bytes are pushed, events are taken. How the bytes were split makes no difference: line ends may
//! be CR, LF or CRLF, a byte order mark may open the stream, a character may be split between two
//! pieces. An event larger than the cap is an error, so memory is bounded whatever the server
//! sends.
//!
//! Not here: reconnecting. A model call is not repeated by its transport.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr2;

/// The byte order mark that may open a stream.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// The name of the event; empty if the server gave none.
    pub name: Cow<'a, str>,
    /// The data of the event, lines joined.
    pub data: Cow<'a, str>,
}

/// An event exceeded the cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event exceeds {cap_bytes} bytes; check that the base URL points to a model API")]
pub struct EventTooLarge {
    /// The cap, in bytes.
    pub cap_bytes: usize,
}

/// Decodes bytes into events.
#[derive(Debug)]
pub struct SseDecoder {
    cap_bytes: usize,
    buffer: Vec<u8>,
    /// The position of the first line that was not read yet.
    line_start: usize,
    /// The position up to which no line end was found.
    searched: usize,
    /// Whether a byte order mark was looked for: it can only open a stream.
    is_mark_checked: bool,
    after_cr: bool,
    name: Vec<u8>,
    /// The position of the data in the buffer, as long as it is one line that arrived in one piece.
    data_at: Option<Range<usize>>,
    /// The data in all other cases.
    data: Vec<u8>,
    has_data: bool,
    is_delivered: bool,
    is_over_cap: bool,
}

impl SseDecoder {
    /// Creates a decoder that rejects events of more than `cap_bytes`.
    #[must_use]
    pub fn new(cap_bytes: usize) -> Self {
        Self {
            cap_bytes,
            buffer: Vec::new(),
            line_start: 0,
            searched: 0,
            is_mark_checked: false,
            after_cr: false,
            name: Vec::new(),
            data_at: None,
            data: Vec::new(),
            has_data: false,
            is_delivered: false,
            is_over_cap: false,
        }
    }

    /// Adds bytes as they arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.clear_delivered();
        self.copy_data_out_of_buffer();
        if self.line_start > 0 {
            self.buffer.drain(..self.line_start);
            self.searched -= self.line_start;
            self.line_start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the next complete event, if there is one.
    ///
    /// # Errors
    ///
    /// Returns [`EventTooLarge`] if an event exceeds the cap.
    pub fn next_event(&mut self) -> Result<Option<SseEvent<'_>>, EventTooLarge> {
        self.clear_delivered();
        while let Some(line) = self.next_line()? {
            if line.is_empty() {
                if self.has_data {
                    return Ok(Some(self.deliver_event()));
                }
                self.name.clear();
            } else {
                self.read_field(line);
            }
        }
        Ok(None)
    }

    /// Returns the event that is left when the stream has ended: its lines are complete, but its
    /// blank line never came. A line without its end is not an event.
    pub fn last_event(&mut self) -> Option<SseEvent<'_>> {
        self.clear_delivered();
        (self.has_data && !self.is_over_cap).then(|| self.deliver_event())
    }

    #[cfg(test)]
    pub(crate) fn buffer_bytes(&self) -> usize {
        self.buffer.len() + self.data.len() + self.name.len()
    }

    fn deliver_event(&mut self) -> SseEvent<'_> {
        self.is_delivered = true;
        let data = match &self.data_at {
            Some(range) => self.buffer.get(range.clone()).unwrap_or_default(),
            None => &self.data,
        };
        SseEvent { name: lossy_text(&self.name), data: lossy_text(data) }
    }

    /// Copies the data out of the buffer, because the buffer is about to change or the data
    /// continues.
    fn copy_data_out_of_buffer(&mut self) {
        if let Some(range) = self.data_at.take() {
            self.data.extend_from_slice(self.buffer.get(range).unwrap_or_default());
        }
    }

    fn data_len(&self) -> usize {
        self.data_at.as_ref().map_or(self.data.len(), Range::len)
    }

    fn clear_delivered(&mut self) {
        if self.is_delivered {
            self.name.clear();
            self.data.clear();
            self.data_at = None;
            self.has_data = false;
            self.is_delivered = false;
        }
    }

    fn next_line(&mut self) -> Result<Option<Range<usize>>, EventTooLarge> {
        if self.is_over_cap {
            return Err(self.too_large());
        }
        if !self.skip_byte_order_mark() {
            return Ok(None);
        }
        self.skip_line_feed();
        let unread = self.buffer.get(self.searched..).unwrap_or_default();
        let end = memchr2(b'\r', b'\n', unread).map(|at| self.searched + at);
        let line = self.line_start..end.unwrap_or(self.buffer.len());
        if self.data_len() + line.len() > self.cap_bytes {
            self.is_over_cap = true;
            return Err(self.too_large());
        }
        let Some(end) = end else {
            self.searched = self.buffer.len();
            return Ok(None);
        };
        self.after_cr = self.buffer.get(end) == Some(&b'\r');
        self.line_start = end + 1;
        self.searched = end + 1;
        Ok(Some(line))
    }

    /// Skips the byte order mark at the beginning; returns `false` while more bytes are needed to
    /// tell.
    fn skip_byte_order_mark(&mut self) -> bool {
        if self.is_mark_checked {
            return true;
        }
        let begun = self.buffer.get(..BYTE_ORDER_MARK.len()).unwrap_or(&self.buffer);
        if begun == BYTE_ORDER_MARK {
            self.line_start = BYTE_ORDER_MARK.len();
            self.searched = BYTE_ORDER_MARK.len();
        } else if BYTE_ORDER_MARK.starts_with(begun) {
            return false;
        }
        self.is_mark_checked = true;
        true
    }

    /// Skips the second half of a CRLF, which may have arrived in another piece.
    fn skip_line_feed(&mut self) {
        if !self.after_cr {
            return;
        }
        match self.buffer.get(self.line_start) {
            None => {}
            Some(b'\n') => {
                self.line_start += 1;
                self.searched = self.line_start;
                self.after_cr = false;
            }
            Some(_) => self.after_cr = false,
        }
    }

    fn read_field(&mut self, line: Range<usize>) {
        let (field, value) = split_field(self.buffer.get(line.clone()).unwrap_or_default());
        let range = line.end - value.len()..line.end;
        match field {
            b"data" if self.has_data => self.append_data_line(range),
            b"data" => {
                self.data_at = Some(range);
                self.has_data = true;
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            // Comments, ids and reconnection times mean nothing to a model call.
            _ => {}
        }
    }

    /// Appends another line of data.
    fn append_data_line(&mut self, range: Range<usize>) {
        self.copy_data_out_of_buffer();
        self.data.push(b'\n');
        self.data.extend_from_slice(self.buffer.get(range).unwrap_or_default());
    }

    fn too_large(&self) -> EventTooLarge {
        EventTooLarge { cap_bytes: self.cap_bytes }
    }
}

/// Converts bytes to text; invalid bytes are replaced. They are rare and searching for them is
/// slow, so validity is checked first.
fn lossy_text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Splits a line into field and value; one space after the colon belongs to neither.
fn split_field(line: &[u8]) -> (&[u8], &[u8]) {
    let Some(colon) = memchr::memchr(b':', line) else {
        return (line, b"");
    };
    let (field, rest) = line.split_at_checked(colon).unwrap_or_default();
    let value = rest.get(1..).unwrap_or_default();
    (field, value.strip_prefix(b" ").unwrap_or(value))
}
