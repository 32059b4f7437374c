//! Rewrites a stream so that every event needs the parser: decoders have a fast path for the most
//! common events, which must read them as the parser does.

use serde_json::Value;
use windlass_core::log::input::{FailureClass, ModelFailure};
use windlass_core::message::reply::{ModelReply, TokenUsage};
use windlass_providers::{CallNotice, notices_in};

/// Adds a space after the first brace of every event: it is not part of the JSON value, and no
/// service writes it.
pub(crate) fn defeat_fast_path(bytes: &[u8]) -> Vec<u8> {
    const START: &[u8] = b"data: {";
    let mut slow = Vec::with_capacity(bytes.len() + bytes.len() / 16);
    for line in bytes.split_inclusive(|byte| matches!(byte, b'\r' | b'\n')) {
        match line.strip_prefix(START) {
            Some(rest) => slow.extend([START, b" ", rest].concat()),
            None => slow.extend_from_slice(line),
        }
    }
    slow
}

/// The parts of a reply that do not depend on whitespace.
pub(crate) fn comparable_reply(
    reply: &Result<ModelReply, ModelFailure>,
) -> Result<(ModelReply, Option<Value>), FailureClass> {
    let mut reply = reply.clone().map_err(|failure| failure.class)?;
    // An estimate depends on the number of bytes.
    if notices_in(&reply).contains(&CallNotice::UsageEstimated) {
        reply.usage = TokenUsage::default();
    }
    let envelope = reply.envelope.take().and_then(|envelope| envelope.fields.read().ok());
    Ok((reply, envelope))
}
