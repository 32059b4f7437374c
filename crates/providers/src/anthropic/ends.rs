//! The beginning and the end of a message, written as the service writes them and read in one go.
//! One that is not is left to the parser that reads any event.

use std::borrow::Cow;

use serde::Deserialize;

use super::usage::Used;

#[cfg(test)]
#[path = "ends_tests.rs"]
mod ends_tests;

/// The end.
#[derive(Debug, Deserialize)]
pub(super) struct End<'a> {
    #[serde(borrow)]
    pub(super) delta: Why<'a>,
    pub(super) usage: Used,
}

/// Why the model stopped.
#[derive(Debug, Deserialize)]
pub(super) struct Why<'a> {
    #[serde(borrow)]
    pub(super) stop_reason: Cow<'a, str>,
    pub(super) stop_sequence: Option<String>,
}

/// What the beginning says was used.
pub(super) fn start(data: &str) -> Option<Used> {
    #[derive(Deserialize)]
    struct Message {
        usage: Used,
    }
    let rest = data.strip_prefix("{\"type\":\"message_start\",\"message\":")?;
    let message = rest.strip_suffix('}')?.trim_end_matches(' ');
    // Whatever else stood behind the message would be no part of one value.
    let Message { usage } = serde_json::from_str(message).ok()?;
    message.starts_with('{').then_some(usage)
}

pub(super) fn end(data: &str) -> Option<End<'_>> {
    data.strip_prefix("{\"type\":\"message_delta\",")?;
    serde_json::from_str(data).ok()
}
