//! Blocks that only the provider they came from may see again.
//!
//! A transcript is in Anthropic's shape. What another wire format has beyond it is kept verbatim in
//! a thinking block or a block of its own, with the model it came from; it is sent back to that
//! model and to no other.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::raw_json::RawJson;

/// The key that marks a chat model's reasoning.
pub(crate) const OPENAI_CHAT: &str = "openai_chat";

/// The key under which an item of the Responses format is kept.
pub(crate) const OPENAI_RESPONSES: &str = "openai_responses";

/// Returns whether a block type is one of our own for another format.
pub(crate) fn is_foreign(kind: &str) -> bool {
    matches!(kind, OPENAI_CHAT | OPENAI_RESPONSES)
}

/// A chat model's reasoning: its text, and the field it came in.
#[derive(Debug, Deserialize)]
pub(crate) struct ChatThinkingBlock<'a> {
    #[serde(borrow)]
    pub(crate) thinking: &'a RawValue,
    #[serde(borrow)]
    pub(crate) openai_chat: ChatReasoningOrigin<'a>,
}

/// The origin of a chat model's reasoning.
#[derive(Debug, Deserialize)]
pub(crate) struct ChatReasoningOrigin<'a> {
    #[serde(borrow)]
    pub(crate) model: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) field: Cow<'a, str>,
}

/// A block with an item of the Responses format inside.
#[derive(Debug, Deserialize)]
pub(crate) struct ResponsesItemBlock<'a> {
    #[serde(borrow)]
    pub(crate) openai_responses: ResponsesItemOrigin<'a>,
}

/// An item, and the model it came from.
#[derive(Debug, Deserialize)]
pub(crate) struct ResponsesItemOrigin<'a> {
    #[serde(borrow)]
    pub(crate) model: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) item: &'a RawValue,
}

/// Creates a thinking block from a chat model's reasoning, given as escaped text.
pub(crate) fn chat_thinking_block(escaped: &str, model: &str, field: &str) -> Option<ContentBlock> {
    let (model, field) = (RawJson::string(model), RawJson::string(field));
    let text = format!(
        "{{\"type\":\"thinking\",\"thinking\":\"{escaped}\",\"{OPENAI_CHAT}\":{{\"model\":{},\"field\":{}}}}}",
        model.text(),
        field.text()
    );
    RawJson::parse(text).ok().map(ContentBlock::new)
}

/// Creates a thinking block around a reasoning item.
pub(crate) fn reasoning_item_block(
    thinking: &str,
    model: &str,
    item: &str,
) -> Option<ContentBlock> {
    let (thinking, model) = (RawJson::string(thinking), RawJson::string(model));
    let text = format!(
        "{{\"type\":\"thinking\",\"thinking\":{},\"{OPENAI_RESPONSES}\":{{\"model\":{},\"item\":{item}}}}}",
        thinking.text(),
        model.text()
    );
    RawJson::parse(text).ok().map(ContentBlock::new)
}

/// Creates a block around any other item.
pub(crate) fn other_item_block(model: &str, item: &str) -> Option<ContentBlock> {
    let model = RawJson::string(model);
    let text = format!(
        "{{\"type\":\"{OPENAI_RESPONSES}\",\"{OPENAI_RESPONSES}\":{{\"model\":{},\"item\":{item}}}}}",
        model.text()
    );
    RawJson::parse(text).ok().map(ContentBlock::new)
}
