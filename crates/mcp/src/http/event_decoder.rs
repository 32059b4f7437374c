//! Decodes server-sent events, with the fields that a stream is resumed by.

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ServerEvent {
    /// The id up to which the stream was read; `None` keeps the last one.
    pub(super) id: Option<String>,
    /// The delay before the stream is resumed, in milliseconds.
    pub(super) retry_ms: Option<u64>,
    /// The data; empty for an event that only has an id.
    pub(super) data: String,
}

/// Decodes bytes into events, however they were split.
#[derive(Debug)]
pub(super) struct EventDecoder {
    line: Vec<u8>,
    event: ServerEvent,
    has_fields: bool,
    /// Whether the last byte was a carriage return: a line feed behind it belongs to it.
    is_after_cr: bool,
    bytes: usize,
    max_bytes: usize,
}

/// An event exceeds the limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EventTooLong;

impl EventDecoder {
    pub(super) fn new(max_bytes: usize) -> Self {
        let (line, event) = (Vec::new(), ServerEvent::default());
        Self { line, event, has_fields: false, is_after_cr: false, bytes: 0, max_bytes }
    }

    /// Returns the events that are complete with these bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<ServerEvent>, EventTooLong> {
        let mut events = Vec::new();
        for byte in bytes {
            let is_pair = std::mem::replace(&mut self.is_after_cr, *byte == b'\r');
            match byte {
                b'\n' if is_pair => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                other => self.add_byte(*other)?,
            }
        }
        Ok(events)
    }

    fn add_byte(&mut self, byte: u8) -> Result<(), EventTooLong> {
        self.bytes += 1;
        if self.bytes > self.max_bytes {
            return Err(EventTooLong);
        }
        self.line.push(byte);
        Ok(())
    }

    fn end_line(&mut self) -> Option<ServerEvent> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            self.bytes = 0;
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_fields).then_some(event);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_start_matches('\u{feff}');
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        self.set_field(name, value.strip_prefix(' ').unwrap_or(value));
        None
    }

    fn set_field(&mut self, name: &str, value: &str) {
        match name {
            "data" => {
                if !self.event.data.is_empty() {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "retry" => self.event.retry_ms = value.parse().ok(),
            _ => return,
        }
        self.has_fields = true;
    }
}
