//! The fast path for the start and the end of a message, written as the service writes them and
//! parsed in one go. Any other form is left to the general parser.

use std::borrow::Cow;

use serde::Deserialize;

use super::usage::MessagesUsage;

#[cfg(test)]
#[path = "fast_message_events_tests.rs"]
mod fast_message_events_tests;

/// The end of a message.
#[derive(Debug, Deserialize)]
pub(super) struct MessageEnd<'a> {
    #[serde(borrow)]
    pub(super) delta: StopDelta<'a>,
    pub(super) usage: MessagesUsage,
}

/// Why the model stopped.
#[derive(Debug, Deserialize)]
pub(super) struct StopDelta<'a> {
    #[serde(borrow)]
    pub(super) stop_reason: Cow<'a, str>,
    pub(super) stop_sequence: Option<String>,
}

/// Parses the usage in the start of a message.
pub(super) fn parse_message_start(data: &str) -> Option<MessagesUsage> {
    #[derive(Deserialize)]
    struct StartMessage {
        usage: MessagesUsage,
    }
    let rest = data.strip_prefix("{\"type\":\"message_start\",\"message\":")?;
    let message = rest.strip_suffix('}')?.trim_end_matches(' ');
    // Any text behind the message would make the value invalid.
    let StartMessage { usage } = serde_json::from_str(message).ok()?;
    message.starts_with('{').then_some(usage)
}

pub(super) fn parse_message_end(data: &str) -> Option<MessageEnd<'_>> {
    data.strip_prefix("{\"type\":\"message_delta\",")?;
    serde_json::from_str(data).ok()
}
