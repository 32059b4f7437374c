//! The format of server-sent events.

use bytes::Bytes;
use serde::Serialize;

#[cfg(test)]
#[path = "sse_tests.rs"]
mod sse_tests;

/// Sent first: how long a reader waits before it connects again, in milliseconds.
pub(crate) const RETRY: &str = "retry: 1000\n\n";

/// A comment that keeps a silent connection open.
pub(crate) const HEARTBEAT: &str = ": heartbeat\n\n";

/// Encodes an event. JSON has no line breaks outside of its strings, and none in them either, so
/// that no text of a model can end an event or begin another.
pub(crate) fn encode_event<T: Serialize>(id: Option<&str>, name: &str, data: &T) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    Bytes::from(format!("{id}event: {name}\ndata: {data}\n\n"))
}
