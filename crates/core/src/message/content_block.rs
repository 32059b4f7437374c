//! Content blocks in the shape of the Messages API, kept verbatim.
//!
//! A block is its JSON text plus what the loop needs to know of it. Unknown block types are
//! [`BlockKind::Other`] and are passed on unchanged.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::message::raw_json::RawJson;

/// The kind of a malformed block: not an object, or one without a type.
const MALFORMED_KIND: &str = "unreadable";

/// One content block.
#[derive(Debug, Clone)]
pub struct ContentBlock {
    raw: RawJson,
    kind: BlockKind,
}

/// The parts of a block that the loop needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    /// Text for the reader.
    Text(Arc<str>),
    /// The model calls one of our tools.
    ToolUse(ToolUse),
    /// The result of a tool use.
    ToolResult {
        /// The id of the tool use, verbatim.
        tool_use_id: Arc<str>,
    },
    /// Any other block, by its type: thinking, images, server tools, future types.
    Other(Arc<str>),
}

/// A request to run a tool.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolUse {
    /// The provider's id, verbatim.
    pub id: Arc<str>,
    /// Name of the tool.
    pub name: Arc<str>,
    /// Arguments of the call, as sent.
    pub input: RawJson,
}

#[derive(Deserialize)]
struct BlockFields<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "deserialize_present")]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Option<&'a RawValue>,
}

/// A block that is built here.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BuiltBlock<'a> {
    Text {
        text: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: &'a RawJson,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: &'a RawJson,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

impl ContentBlock {
    /// Keeps `raw` unchanged and determines its kind.
    #[must_use]
    pub fn new(raw: RawJson) -> Self {
        let kind = read_kind(&raw);
        Self { raw, kind }
    }

    /// Creates a text block.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let raw = RawJson::encode(&BuiltBlock::Text { text });
        Self { raw, kind: BlockKind::Text(Arc::from(text)) }
    }

    /// Creates a tool use, for adapters whose provider has another format.
    #[must_use]
    pub fn tool_use(id: &str, name: &str, input: &RawJson) -> Self {
        Self::from_tool_use(ToolUse {
            id: Arc::from(id),
            name: Arc::from(name),
            input: input.clone(),
        })
    }

    /// Creates the block of a tool use that is already parsed.
    #[must_use]
    pub fn from_tool_use(tool_use: ToolUse) -> Self {
        let ToolUse { id, name, input } = &tool_use;
        let raw = RawJson::encode(&BuiltBlock::ToolUse { id, name, input });
        Self { raw, kind: BlockKind::ToolUse(tool_use) }
    }

    /// Creates a tool result. `content` is a JSON string or a list of content blocks.
    #[must_use]
    pub fn tool_result(tool_use_id: &str, content: &RawJson, flag: ErrorFlag) -> Self {
        let is_error = flag == ErrorFlag::Error;
        let raw = RawJson::encode(&BuiltBlock::ToolResult { tool_use_id, content, is_error });
        Self { raw, kind: BlockKind::ToolResult { tool_use_id: Arc::from(tool_use_id) } }
    }

    /// Returns the exact JSON of the block.
    #[must_use]
    pub fn raw(&self) -> &RawJson {
        &self.raw
    }

    /// Returns the kind of the block.
    #[must_use]
    pub fn kind(&self) -> &BlockKind {
        &self.kind
    }

    /// Returns the tool use, if it is one.
    #[must_use]
    pub fn as_tool_use(&self) -> Option<&ToolUse> {
        match &self.kind {
            BlockKind::ToolUse(tool_use) => Some(tool_use),
            BlockKind::Text(_) | BlockKind::ToolResult { .. } | BlockKind::Other(_) => None,
        }
    }

    /// Returns the text, if it is a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.kind {
            BlockKind::Text(text) => Some(text),
            BlockKind::ToolUse(_) | BlockKind::ToolResult { .. } | BlockKind::Other(_) => None,
        }
    }

    /// Returns whether the block is an image or a document rather than text.
    #[must_use]
    pub fn is_attachment(&self) -> bool {
        matches!(&self.kind, BlockKind::Other(name) if matches!(&**name, "image" | "document"))
    }

    /// Returns whether the block is thinking of the model, readable or not.
    #[must_use]
    pub fn is_thinking(&self) -> bool {
        matches!(&self.kind, BlockKind::Other(name) if matches!(&**name, "thinking" | "redacted_thinking"))
    }

    /// Returns whether the API would reject the block for its shape: not a block, or a known type
    /// with missing fields.
    #[must_use]
    pub fn is_malformed(&self) -> bool {
        matches!(&self.kind, BlockKind::Other(name) if matches!(&**name, "tool_use" | "tool_result" | "text" | MALFORMED_KIND))
    }

    /// Returns whether the API would reject the block for being blank.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.as_text().is_some_and(|text| text.trim().is_empty())
    }
}

/// Whether a tool result is an error. Loop detection and pinned results read this, never a text
/// prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorFlag {
    /// The call succeeded.
    Success,
    /// The call failed.
    Error,
}

fn read_kind(raw: &RawJson) -> BlockKind {
    // serde reads an array as a struct, field by field; a block is an object.
    let Some(peek) = raw.read::<BlockFields<'_>>().ok().filter(|_| raw.is_object()) else {
        return BlockKind::Other(Arc::from(MALFORMED_KIND));
    };
    let other = || BlockKind::Other(Arc::from(peek.kind.as_ref()));
    match peek.kind.as_ref() {
        "text" => peek.text.and_then(lossy_text).map_or_else(other, BlockKind::Text),
        "tool_use" => read_tool_use(&peek).map_or_else(other, BlockKind::ToolUse),
        "tool_result" => peek
            .tool_use_id
            .and_then(lossy_text)
            .map_or_else(other, |tool_use_id| BlockKind::ToolResult { tool_use_id }),
        _ => other(),
    }
}

/// Tells `null` from a missing field.
fn deserialize_present<'de: 'a, 'a, D: Deserializer<'de>>(
    raw: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(raw).map(Some)
}

fn read_tool_use(peek: &BlockFields<'_>) -> Option<ToolUse> {
    // Missing arguments are not an object either: the call gets an error result and is not run.
    let input = peek.input.map_or("null", RawValue::get);
    Some(ToolUse {
        id: peek.id.and_then(lossy_text)?,
        name: peek.name.and_then(lossy_text)?,
        input: RawJson::parse(input).ok()?,
    })
}

/// Reads a JSON string. A Rust string cannot contain lone surrogates: they become the replacement
/// character, while the raw block keeps them.
fn lossy_text(raw: &RawValue) -> Option<Arc<str>> {
    match serde_json::from_str::<Cow<'_, str>>(raw.get()) {
        Ok(text) => Some(Arc::from(text.as_ref())),
        Err(_) => serde_json::from_str::<LossyText>(raw.get()).ok().map(|lossy| lossy.0),
    }
}

struct LossyText(Arc<str>);

impl<'de> Deserialize<'de> for LossyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LossyTextVisitor;
        impl serde::de::Visitor<'_> for LossyTextVisitor {
            type Value = LossyText;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<LossyText, E> {
                let text = without_surrogates(bytes);
                Ok(LossyText(Arc::from(String::from_utf8_lossy(&text).as_ref())))
            }
        }
        // serde_json hands over the bytes of a string, surrogates encoded as they came.
        deserializer.deserialize_bytes(LossyTextVisitor)
    }
}

/// Replaces lone surrogates. Each takes three bytes that are not valid UTF-8, and becomes one
/// replacement character.
fn without_surrogates(mut bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    while let Some((first, rest)) = bytes.split_first() {
        if let [0xed, 0xa0..=0xbf, _, rest @ ..] = bytes {
            text.extend_from_slice("\u{fffd}".as_bytes());
            bytes = rest;
        } else {
            text.push(*first);
            bytes = rest;
        }
    }
    text
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RawJson::deserialize(deserializer).map(Self::new)
    }
}

impl PartialEq for ContentBlock {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Eq for ContentBlock {}

impl Hash for ContentBlock {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.raw.hash(state);
    }
}
