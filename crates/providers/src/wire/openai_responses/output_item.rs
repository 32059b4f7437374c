//! Converts one output item to blocks and calls.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_core::message::content_block::ContentBlock;
use windlass_runtime::ports::ReplyObserver;

use crate::error::call_error::CallError;
use crate::json::json_string;
use crate::wire::decode_context::DecodeContext;
use crate::wire::foreign_blocks;
use crate::wire::reply_builder::{ReplyBuilder, StreamedCall};
use crate::wire::stop_strings::StopStringMatcher;

/// An output item, with the fields that the decoder uses.
#[derive(Debug, Deserialize)]
pub(super) struct OutputItem<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    summary: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct OutputItemPart<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    refusal: Option<&'a RawValue>,
}

/// What an item contained.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ItemFindings {
    pub(super) has_refusal: bool,
    pub(super) stop_string: Option<std::sync::Arc<str>>,
}

/// Parses an item.
pub(super) fn parse_item(raw: &RawValue) -> Option<OutputItem<'_>> {
    serde_json::from_str(raw.get()).ok()
}

/// Adds a complete item to the reply.
pub(super) fn add_item(
    raw: &RawValue,
    context: &DecodeContext,
    (draft, watch): (&mut ReplyBuilder, &StopStringMatcher),
    stream: &dyn ReplyObserver,
) -> Result<ItemFindings, CallError> {
    let item = parse_item(raw)
        .ok_or_else(|| CallError::Malformed("an output item is not an object".to_owned()))?;
    match item.kind.as_ref() {
        "message" => add_message(&item, draft, watch, stream),
        "function_call" => {
            let arguments =
                item.arguments.and_then(json_string::decode_raw_string).unwrap_or_default();
            let call = streamed_call(&item, context, draft, arguments.into_owned());
            draft.push_call(call, stream).map(|()| ItemFindings::default())
        }
        "reasoning" => {
            let block = foreign_blocks::reasoning_item_block(
                &reasoning_text(&item),
                &context.model,
                raw.get(),
            );
            add_block(block, draft, stream)
        }
        _ => add_block(foreign_blocks::other_item_block(&context.model, raw.get()), draft, stream),
    }
}

fn add_block(
    block: Option<ContentBlock>,
    draft: &mut ReplyBuilder,
    stream: &dyn ReplyObserver,
) -> Result<ItemFindings, CallError> {
    match block {
        Some(block) => draft.push_block(block, stream).map(|()| ItemFindings::default()),
        None => Ok(ItemFindings::default()),
    }
}

/// Creates a call; where the server gives no id, one is generated.
pub(super) fn streamed_call(
    item: &OutputItem<'_>,
    context: &DecodeContext,
    draft: &ReplyBuilder,
    arguments: String,
) -> StreamedCall {
    let id = item.call_id.as_deref().filter(|id| !id.is_empty()).map(str::to_owned);
    let id = id.unwrap_or_else(|| format!("call_{}_{}", context.model_call, draft.len()));
    StreamedCall::new(&id, item.name.as_deref().unwrap_or_default(), arguments)
}

fn add_message(
    item: &OutputItem<'_>,
    draft: &mut ReplyBuilder,
    watch: &StopStringMatcher,
    stream: &dyn ReplyObserver,
) -> Result<ItemFindings, CallError> {
    let mut found = ItemFindings::default();
    for part in parse_parts(item.content) {
        let refusal = part.refusal.and_then(json_string::decode_raw_string);
        found.has_refusal |= refusal.is_some();
        let text =
            part.text.and_then(json_string::decode_raw_string).or(refusal).unwrap_or_default();
        let (text, stop) = match watch.split_at_stop(&text) {
            Some((before, stop)) => (Cow::Owned(before.to_owned()), Some(stop)),
            None => (text, None),
        };
        if !text.is_empty() {
            draft.push_block(ContentBlock::text(&text), stream)?;
        }
        if stop.is_some() {
            found.stop_string = stop;
            break;
        }
    }
    Ok(found)
}

/// The summary, or the reasoning itself where the server shows it.
fn reasoning_text(item: &OutputItem<'_>) -> String {
    let parts = parse_parts(item.summary).into_iter().chain(parse_parts(item.content));
    let texts: Vec<Cow<'_, str>> =
        parts.filter_map(|part| part.text).filter_map(json_string::decode_raw_string).collect();
    texts.join("\n\n")
}

fn parse_parts(list: Option<&RawValue>) -> Vec<OutputItemPart<'_>> {
    list.and_then(|list| serde_json::from_str(list.get()).ok()).unwrap_or_default()
}
