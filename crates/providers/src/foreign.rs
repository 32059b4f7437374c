//! What one provider's model leaves in a transcript and only its own kind may see again.
//!
//! A transcript is in Anthropic's shape. What another wire format has beyond it is kept in a
//! thinking block or a block of its own, verbatim, with the model it came from; it goes back to
//! that model and to no other.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_core::block::Block;
use windlass_core::raw::Raw;

/// Where a chat model's reasoning is marked as such.
pub(crate) const CHAT: &str = "openai_chat";

/// Where an item of the Responses format is kept.
pub(crate) const RESPONSES: &str = "openai_responses";

/// Whether a block type is one of ours for another format.
pub(crate) fn is_foreign(kind: &str) -> bool {
    matches!(kind, CHAT | RESPONSES)
}

/// A chat model's reasoning: its text, and the field it came in.
#[derive(Debug, Deserialize)]
pub(crate) struct ChatThought<'a> {
    #[serde(borrow)]
    pub(crate) thinking: &'a RawValue,
    #[serde(borrow)]
    pub(crate) openai_chat: ChatOrigin<'a>,
}

/// Where a chat model's reasoning came from.
#[derive(Debug, Deserialize)]
pub(crate) struct ChatOrigin<'a> {
    #[serde(borrow)]
    pub(crate) model: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) field: Cow<'a, str>,
}

/// A block with an item of the Responses format inside.
#[derive(Debug, Deserialize)]
pub(crate) struct Kept<'a> {
    #[serde(borrow)]
    pub(crate) openai_responses: ItemOrigin<'a>,
}

/// An item, and the model it came from.
#[derive(Debug, Deserialize)]
pub(crate) struct ItemOrigin<'a> {
    #[serde(borrow)]
    pub(crate) model: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) item: &'a RawValue,
}

/// A thinking block from a chat model's reasoning, given as escaped text.
pub(crate) fn chat_thought(escaped: &str, model: &str, field: &str) -> Option<Block> {
    let (model, field) = (Raw::string(model), Raw::string(field));
    let text = format!(
        "{{\"type\":\"thinking\",\"thinking\":\"{escaped}\",\"{CHAT}\":{{\"model\":{},\"field\":{}}}}}",
        model.text(),
        field.text()
    );
    Raw::parse(text).ok().map(Block::new)
}

/// A thinking block around a reasoning item.
pub(crate) fn thought_item(thinking: &str, model: &str, item: &str) -> Option<Block> {
    let (thinking, model) = (Raw::string(thinking), Raw::string(model));
    let text = format!(
        "{{\"type\":\"thinking\",\"thinking\":{},\"{RESPONSES}\":{{\"model\":{},\"item\":{item}}}}}",
        thinking.text(),
        model.text()
    );
    Raw::parse(text).ok().map(Block::new)
}

/// A block around any other item.
pub(crate) fn other_item(model: &str, item: &str) -> Option<Block> {
    let model = Raw::string(model);
    let text = format!(
        "{{\"type\":\"{RESPONSES}\",\"{RESPONSES}\":{{\"model\":{},\"item\":{item}}}}}",
        model.text()
    );
    Raw::parse(text).ok().map(Block::new)
}
