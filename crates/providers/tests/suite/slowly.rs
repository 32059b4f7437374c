//! The same stream, written so that every event needs the parser: decoders know the commonest ones
//! by how they are written, and must read them as the parser does.

use serde_json::Value;
use windlass_core::input::{Failure, FailureClass};
use windlass_core::reply::{Reply, Usage};
use windlass_providers::{Notice, notices};

/// Puts a blank after the first brace of every event: it is no part of the JSON, and no service
/// writes it.
pub(crate) fn slowly(bytes: &[u8]) -> Vec<u8> {
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

/// Everything a reply says, except where a blank more or less shows.
pub(crate) fn said(reply: &Result<Reply, Failure>) -> Result<(Reply, Option<Value>), FailureClass> {
    let mut reply = reply.clone().map_err(|failure| failure.class)?;
    // An estimate goes by the bytes that came.
    if notices(&reply).contains(&Notice::UsageEstimated) {
        reply.usage = Usage::default();
    }
    let envelope = reply.envelope.take().and_then(|raw| raw.read().ok());
    Ok((reply, envelope))
}
