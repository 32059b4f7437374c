//! Decodes a reply that was not streamed.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::{ModelReply, StopReason, TruncatedBlock};
use windlass_runtime::ports::ReplyObserver;

use super::usage::MessagesUsage;
use crate::call::call_notice::ReplyEnvelope;
use crate::error::call_error::CallError;
use crate::wire::decode_context::DecodeContext;
use crate::wire::reply_events::{EventContent, ReplyEventWriter};
use crate::wire::wire_protocol::DecodedReply;

#[derive(Debug, Deserialize)]
struct MessagesResponse<'a> {
    #[serde(borrow)]
    content: Vec<&'a RawValue>,
    #[serde(borrow)]
    stop_reason: Option<Cow<'a, str>>,
    #[serde(borrow)]
    stop_sequence: Option<Cow<'a, str>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

/// Decodes the reply in a response body.
pub(crate) fn decode_whole_reply(
    body: &str,
    context: &DecodeContext,
    stream: &dyn ReplyObserver,
) -> Result<DecodedReply, CallError> {
    let message: MessagesResponse<'_> = serde_json::from_str(body)
        .map_err(|error| CallError::Malformed(format!("invalid Messages response: {error}")))?;
    let mut envelope = ReplyEnvelope::default();
    let used = message.usage.map(|used| MessagesUsage::parse(used.get())).unwrap_or_default();
    let usage = context.usage_or_estimate(used.to_reported(), body.len(), &mut envelope);
    let stop_reason = StopReason::from(message.stop_reason.as_deref().unwrap_or("end_turn"));
    let raw = |raw: &&RawValue| RawJson::parse(raw.get()).ok().map(ContentBlock::new);
    let mut blocks: Vec<ContentBlock> = message.content.iter().filter_map(raw).collect();
    let truncated_block = take_truncated_call(&mut blocks, &stop_reason);
    let stop_sequence = message.stop_sequence.as_deref().map(Arc::from);
    let reply =
        ModelReply { blocks, truncated_block, stop_reason, stop_sequence, usage, envelope: None };
    write_events(body, context, &reply, stream);
    Ok(DecodedReply { reply, envelope })
}

/// Writes the events of a reply that came at once.
fn write_events(
    body: &str,
    context: &DecodeContext,
    reply: &ModelReply,
    stream: &dyn ReplyObserver,
) {
    let mut events = ReplyEventWriter::default();
    events.start_message(body, context, stream);
    if events.has_started() {
        let blocks = reply.blocks.iter().map(EventContent::from_block);
        blocks.for_each(|content| events.write_block(&content, stream));
        events.end_message(reply, stream);
    }
}

/// Takes a truncated call out of the reply: at the output limit the server has closed the JSON of
/// the call itself, and it must not be run.
fn take_truncated_call(
    blocks: &mut Vec<ContentBlock>,
    stop_reason: &StopReason,
) -> Option<TruncatedBlock> {
    if !matches!(stop_reason, StopReason::MaxTokens | StopReason::ContextWindowExceeded) {
        return None;
    }
    let last = blocks.pop_if(|last| last.as_tool_use().is_some())?;
    let call = last.as_tool_use()?;
    Some(TruncatedBlock { name: Arc::clone(&call.name), partial: Arc::from(call.input.text()) })
}
