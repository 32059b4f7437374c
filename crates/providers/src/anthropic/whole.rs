//! A reply that was not streamed.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_core::block::Block;
use windlass_core::raw::Raw;
use windlass_core::reply::{CutBlock, Reply, StopReason};

use super::usage::Used;
use crate::asked::Asked;
use crate::fault::Fault;
use crate::notice::Envelope;
use crate::wire::Closed;

#[derive(Debug, Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Vec<&'a RawValue>,
    #[serde(borrow)]
    stop_reason: Option<Cow<'a, str>>,
    #[serde(borrow)]
    stop_sequence: Option<Cow<'a, str>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

/// The reply in a response's body.
pub(crate) fn reply(body: &str, asked: &Asked) -> Result<Closed, Fault> {
    let message: Message<'_> = serde_json::from_str(body)
        .map_err(|error| Fault::Malformed(format!("the answer is no message: {error}")))?;
    let mut envelope = Envelope::default();
    let used = message.usage.map(|used| Used::read(used.get())).unwrap_or_default();
    let usage = asked.usage(used.reported(), body.len(), &mut envelope);
    let stop_reason = StopReason::from(message.stop_reason.as_deref().unwrap_or("end_turn"));
    let raw = |raw: &&RawValue| Raw::parse(raw.get()).ok().map(Block::new);
    let mut blocks: Vec<Block> = message.content.iter().filter_map(raw).collect();
    let cut = cut(&mut blocks, &stop_reason);
    let stop_sequence = message.stop_sequence.as_deref().map(Arc::from);
    let reply = Reply { blocks, cut, stop_reason, stop_sequence, usage, envelope: None };
    Ok(Closed { reply, envelope })
}

/// At the output limit the server has closed the JSON of a cut call itself: it is not to be run.
fn cut(blocks: &mut Vec<Block>, stop_reason: &StopReason) -> Option<CutBlock> {
    if !matches!(stop_reason, StopReason::MaxTokens | StopReason::ContextWindowExceeded) {
        return None;
    }
    let last = blocks.pop_if(|last| last.as_tool_use().is_some())?;
    let call = last.as_tool_use()?;
    Some(CutBlock { name: Arc::clone(&call.name), partial: Arc::from(call.input.text()) })
}
