//! A stream of events, read across broken connections.

use std::collections::VecDeque;

use super::event_decoder::{EventDecoder, ServerEvent};
use super::http_port::HttpBody;

/// Length of an event, in bytes.
const MAX_EVENT_BYTES: usize = 16 << 20;

/// Delay before a stream is resumed, unless the server says otherwise.
const DEFAULT_RETRY_MS: u64 = 1_000;

/// The longest delay that a server can ask for.
const MAX_RETRY_MS: u64 = 60_000;

/// Where a stream is resumed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ResumePoint {
    /// The id of the last event; without one the stream cannot be resumed.
    pub(super) last_event_id: Option<String>,
    retry_ms: Option<u64>,
}

impl ResumePoint {
    /// How long to wait before the stream is resumed.
    pub(super) fn delay_ms(&self) -> u64 {
        self.retry_ms.unwrap_or(DEFAULT_RETRY_MS).min(MAX_RETRY_MS)
    }
}

/// Reads the events of one response.
pub(super) struct EventStream {
    body: HttpBody,
    decoder: EventDecoder,
    ready: VecDeque<ServerEvent>,
}

/// What a stream brought.
pub(super) enum StreamItem {
    /// A message.
    Message(String),
    /// The stream has ended.
    Ended,
    /// The stream cannot be read.
    Broken(String),
}

impl EventStream {
    pub(super) fn new(body: HttpBody) -> Self {
        Self { body, decoder: EventDecoder::new(MAX_EVENT_BYTES), ready: VecDeque::new() }
    }

    /// Returns the next message, and notes where the stream would be resumed.
    pub(super) async fn next(&mut self, resume: &mut ResumePoint) -> StreamItem {
        loop {
            while let Some(event) = self.ready.pop_front() {
                resume.retry_ms = event.retry_ms.or(resume.retry_ms);
                if let Some(id) = event.id {
                    resume.last_event_id = Some(id).filter(|id| !id.is_empty());
                }
                if !event.data.trim().is_empty() {
                    return StreamItem::Message(event.data);
                }
            }
            match self.body.recv().await {
                Some(Ok(bytes)) => match self.decoder.push(&bytes) {
                    Ok(events) => self.ready.extend(events),
                    Err(_) => {
                        let mib = MAX_EVENT_BYTES >> 20;
                        return StreamItem::Broken(format!("a message exceeds {mib} MiB"));
                    }
                },
                // A stream that breaks off is resumed like one that ends.
                Some(Err(_)) | None => return StreamItem::Ended,
            }
        }
    }
}
