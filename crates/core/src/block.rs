//! Content blocks in the shape of the Messages API, kept verbatim.
//!
//! A block is its JSON text plus what the loop needs to know of it. Block types nobody has invented
//! yet are [`Kind::Other`] and travel unchanged.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::raw::Raw;
use crate::raw::object::Object;

/// The kind of what is no block at all: no object, or one without a type.
const UNREADABLE: &str = "unreadable";

/// One content block.
#[derive(Debug, Clone)]
pub struct Block {
    raw: Raw,
    kind: Kind,
}

/// What the loop knows of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Text for the reader.
    Text(Arc<str>),
    /// The model asks for one of our tools.
    ToolUse(ToolUse),
    /// The answer to a tool use.
    ToolResult {
        /// The id it answers, verbatim.
        tool_use_id: Arc<str>,
    },
    /// Anything else, by its type: thinking, images, server tools, the future.
    Other(Arc<str>),
}

/// A request to run a tool.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolUse {
    /// The provider's id, verbatim.
    pub id: Arc<str>,
    /// Which tool.
    pub name: Arc<str>,
    /// Its arguments as sent.
    pub input: Raw,
}

#[derive(Deserialize)]
struct Peek<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Option<&'a RawValue>,
}

impl Block {
    /// Keeps `raw` as it is and notes what it is.
    #[must_use]
    pub fn new(raw: Raw) -> Self {
        let kind = peek(&raw);
        Self { raw, kind }
    }

    /// A text block.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let raw = Object::with_room(text.len()).text("type", "text").text("text", text).close();
        Self { raw, kind: Kind::Text(Arc::from(text)) }
    }

    /// A tool use, for adapters whose provider speaks another shape.
    #[must_use]
    pub fn tool_use(id: &str, name: &str, input: &Raw) -> Self {
        Self::call(ToolUse { id: Arc::from(id), name: Arc::from(name), input: input.clone() })
    }

    /// The same of a call that is known already.
    #[must_use]
    pub fn call(tool_use: ToolUse) -> Self {
        let ToolUse { id, name, input } = &tool_use;
        let object = Object::with_room(id.len() + name.len() + input.text().len());
        let object = object.text("type", "tool_use").text("id", id).text("name", name);
        let raw = object.json("input", input.text()).close();
        Self { raw, kind: Kind::ToolUse(tool_use) }
    }

    /// A tool result. `content` is a JSON string or a list of content blocks.
    #[must_use]
    pub fn tool_result(tool_use_id: &str, content: &Raw, flag: ErrorFlag) -> Self {
        let object = Object::with_room(tool_use_id.len() + content.text().len());
        let object = object.text("type", "tool_result").text("tool_use_id", tool_use_id);
        let object = object.json("content", content.text());
        let raw = match flag {
            ErrorFlag::Error => object.json("is_error", "true").close(),
            ErrorFlag::Fine => object.close(),
        };
        Self { raw, kind: Kind::ToolResult { tool_use_id: Arc::from(tool_use_id) } }
    }

    /// The block's exact JSON.
    #[must_use]
    pub fn raw(&self) -> &Raw {
        &self.raw
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The tool use, if it is one.
    #[must_use]
    pub fn as_tool_use(&self) -> Option<&ToolUse> {
        match &self.kind {
            Kind::ToolUse(tool_use) => Some(tool_use),
            Kind::Text(_) | Kind::ToolResult { .. } | Kind::Other(_) => None,
        }
    }

    /// The text, if it is a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            Kind::ToolUse(_) | Kind::ToolResult { .. } | Kind::Other(_) => None,
        }
    }

    /// Whether it holds a picture or a document rather than text.
    #[must_use]
    pub fn is_file(&self) -> bool {
        matches!(&self.kind, Kind::Other(name) if matches!(&**name, "image" | "document"))
    }

    /// Whether it is the model's thinking, readable or not.
    #[must_use]
    pub fn is_thought(&self) -> bool {
        matches!(&self.kind, Kind::Other(name) if matches!(&**name, "thinking" | "redacted_thinking"))
    }

    /// Whether the API would refuse it for its shape: no block at all, or a known type without what
    /// belongs to it.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        matches!(&self.kind, Kind::Other(name) if matches!(&**name, "tool_use" | "tool_result" | "text" | UNREADABLE))
    }

    /// Whether the API would refuse the block for being blank.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.as_text().is_some_and(|text| text.trim().is_empty())
    }
}

/// Whether a tool result tells of an error. Detectors and pins read this, never a text prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorFlag {
    /// It worked.
    Fine,
    /// It did not.
    Error,
}

fn peek(raw: &Raw) -> Kind {
    // serde reads an array as a struct, field by field; a block is an object.
    let Some(peek) = raw.read::<Peek<'_>>().ok().filter(|_| raw.is_object()) else {
        return Kind::Other(Arc::from(UNREADABLE));
    };
    let other = || Kind::Other(Arc::from(peek.kind.as_ref()));
    match peek.kind.as_ref() {
        "text" => peek.text.and_then(lossy_text).map_or_else(other, Kind::Text),
        "tool_use" => tool_use_of(&peek).map_or_else(other, Kind::ToolUse),
        "tool_result" => peek
            .tool_use_id
            .and_then(lossy_text)
            .map_or_else(other, |tool_use_id| Kind::ToolResult { tool_use_id }),
        _ => other(),
    }
}

/// Tells `null` from nothing.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(raw: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(raw).map(Some)
}

fn tool_use_of(peek: &Peek<'_>) -> Option<ToolUse> {
    // Arguments that are missing are no object either: the call is answered, not run.
    let input = peek.input.map_or("null", RawValue::get);
    Some(ToolUse {
        id: peek.id.and_then(lossy_text)?,
        name: peek.name.and_then(lossy_text)?,
        input: Raw::parse(input).ok()?,
    })
}

/// Reads a JSON string. Lone surrogates cannot live in a Rust string: they read as the replacement
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
        struct Bytes;
        impl serde::de::Visitor<'_> for Bytes {
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
        deserializer.deserialize_bytes(Bytes)
    }
}

/// A lone surrogate takes three bytes that no UTF-8 has; it becomes one replacement character.
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

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Raw::deserialize(deserializer).map(Self::new)
    }
}

impl PartialEq for Block {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Eq for Block {}

impl Hash for Block {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.raw.hash(state);
    }
}
