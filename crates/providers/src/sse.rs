//! Server-sent events, decoded as bytes arrive.
//!
//! Bytes are pushed, events are taken. How the bytes were split makes no difference: line ends may
//! be CR, LF or CRLF, a mark may open the stream, a character may be torn between two pieces. An
//! event larger than the cap is an error, so memory is bounded whatever the server sends.
//!
//! Not here: reconnecting. A model call is not repeated by its transport.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr2;

/// The mark that may open a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event<'a> {
    /// Its name; empty if the server gave none.
    pub name: Cow<'a, str>,
    /// Its data, lines joined.
    pub data: Cow<'a, str>,
}

/// An event passed the cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of more than {cap_bytes} bytes; check that the address is a model's")]
pub struct TooLarge {
    /// The cap.
    pub cap_bytes: usize,
}

/// Turns bytes into events.
#[derive(Debug)]
pub struct Decoder {
    cap_bytes: usize,
    buffer: Vec<u8>,
    /// Where the first line not yet read begins.
    line_start: usize,
    /// Up to where no line end was found.
    searched: usize,
    opening: Opening,
    after_cr: bool,
    name: Vec<u8>,
    /// Where the data stands in the buffer, as long as it is one line that came in one piece.
    data_at: Option<Range<usize>>,
    /// The data otherwise.
    data: Vec<u8>,
    has_data: bool,
    delivered: bool,
    over: bool,
}

/// Whether a byte order mark may still come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    Expected,
    Passed,
}

impl Decoder {
    /// A decoder that refuses events of more than `cap_bytes`.
    #[must_use]
    pub fn new(cap_bytes: usize) -> Self {
        Self {
            cap_bytes,
            buffer: Vec::new(),
            line_start: 0,
            searched: 0,
            opening: Opening::Expected,
            after_cr: false,
            name: Vec::new(),
            data_at: None,
            data: Vec::new(),
            has_data: false,
            delivered: false,
            over: false,
        }
    }

    /// Takes bytes as they came.
    pub fn push(&mut self, bytes: &[u8]) {
        self.forget_delivered();
        self.keep_data();
        if self.line_start > 0 {
            self.buffer.drain(..self.line_start);
            self.searched -= self.line_start;
            self.line_start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete event, if there is one.
    pub fn take(&mut self) -> Result<Option<Event<'_>>, TooLarge> {
        self.forget_delivered();
        while let Some(line) = self.next_line()? {
            if line.is_empty() {
                if self.has_data {
                    return Ok(Some(self.deliver()));
                }
                self.name.clear();
            } else {
                self.read_field(line);
            }
        }
        Ok(None)
    }

    /// What is left when the stream has ended: an event whose lines are complete and whose blank
    /// line never came. A line without its end is not an event.
    pub fn take_last(&mut self) -> Option<Event<'_>> {
        self.forget_delivered();
        (self.has_data && !self.over).then(|| self.deliver())
    }

    #[cfg(test)]
    pub(crate) fn buffer_bytes(&self) -> usize {
        self.buffer.len() + self.data.len() + self.name.len()
    }

    fn deliver(&mut self) -> Event<'_> {
        self.delivered = true;
        let data = match &self.data_at {
            Some(place) => self.buffer.get(place.clone()).unwrap_or_default(),
            None => &self.data,
        };
        Event { name: text(&self.name), data: text(data) }
    }

    /// The buffer is about to change, or the data goes on: what it holds of the data is kept.
    fn keep_data(&mut self) {
        if let Some(place) = self.data_at.take() {
            self.data.extend_from_slice(self.buffer.get(place).unwrap_or_default());
        }
    }

    fn data_bytes(&self) -> usize {
        self.data_at.as_ref().map_or(self.data.len(), Range::len)
    }

    fn forget_delivered(&mut self) {
        if self.delivered {
            self.name.clear();
            self.data.clear();
            self.data_at = None;
            self.has_data = false;
            self.delivered = false;
        }
    }

    fn next_line(&mut self) -> Result<Option<Range<usize>>, TooLarge> {
        if self.over {
            return Err(self.too_large());
        }
        if !self.pass_opening() {
            return Ok(None);
        }
        self.pass_line_feed();
        let unread = self.buffer.get(self.searched..).unwrap_or_default();
        let end = memchr2(b'\r', b'\n', unread).map(|at| self.searched + at);
        let line = self.line_start..end.unwrap_or(self.buffer.len());
        if self.data_bytes() + line.len() > self.cap_bytes {
            self.over = true;
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

    /// Drops the mark at the very beginning; false while it cannot be told yet.
    fn pass_opening(&mut self) -> bool {
        if self.opening == Opening::Passed {
            return true;
        }
        let begun = self.buffer.get(..BYTE_ORDER_MARK.len()).unwrap_or(&self.buffer);
        if begun == BYTE_ORDER_MARK {
            self.line_start = BYTE_ORDER_MARK.len();
            self.searched = BYTE_ORDER_MARK.len();
        } else if BYTE_ORDER_MARK.starts_with(begun) {
            return false;
        }
        self.opening = Opening::Passed;
        true
    }

    /// The second half of a CRLF, which may have come in another piece.
    fn pass_line_feed(&mut self) {
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
        let (field, value) = split(self.buffer.get(line.clone()).unwrap_or_default());
        let place = line.end - value.len()..line.end;
        match field {
            b"data" if self.has_data => self.go_on_with(place),
            b"data" => {
                self.data_at = Some(place);
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

    /// Another line of data.
    fn go_on_with(&mut self, place: Range<usize>) {
        self.keep_data();
        self.data.push(b'\n');
        self.data.extend_from_slice(self.buffer.get(place).unwrap_or_default());
    }

    fn too_large(&self) -> TooLarge {
        TooLarge { cap_bytes: self.cap_bytes }
    }
}

/// Bytes that are no text are replaced. That is rare, and looking for it is slow: whether all is
/// well is asked first.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Field and value; one space after the colon belongs to neither.
fn split(line: &[u8]) -> (&[u8], &[u8]) {
    let Some(colon) = memchr::memchr(b':', line) else {
        return (line, b"");
    };
    let (field, rest) = line.split_at_checked(colon).unwrap_or_default();
    let value = rest.get(1..).unwrap_or_default();
    (field, value.strip_prefix(b" ").unwrap_or(value))
}
