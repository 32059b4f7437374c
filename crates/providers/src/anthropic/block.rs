//! A content block while it streams: what the server sent first, and what its deltas added.
//!
//! Fields nobody touched keep their exact text and their order, so block types nobody has invented
//! yet come out as the server would have sent them whole.

use std::borrow::Cow;

use serde_json::value::RawValue;
use windlass_core::block::Block;
use windlass_core::raw::Raw;

use crate::draft::Call;
use crate::fields::Fields;
use crate::lossless;

/// The field that holds a call's arguments.
const INPUT: &str = "input";

#[derive(Debug)]
pub(super) struct OpenBlock {
    pub(super) index: u64,
    kind: String,
    start: String,
    fields: Vec<(String, Value)>,
    changed: bool,
    arguments: Option<String>,
}

#[derive(Debug)]
enum Value {
    /// As it came.
    Raw(String),
    /// A string, by what stands between its quotes.
    Text(String),
    /// A list, by what stands between its brackets.
    List(String),
}

/// A block that is complete.
#[derive(Debug)]
pub(super) enum Finished {
    Block(Block),
    Call(Call),
}

impl OpenBlock {
    /// A block as its start event has it; nothing if it is no object.
    pub(super) fn new(index: u64, start: &RawValue) -> Option<Self> {
        let Fields(fields) = serde_json::from_str(start.get()).ok()?;
        let kind = fields.iter().find(|(key, _)| key == "type").and_then(|(_, raw)| text(raw));
        let kind = kind.unwrap_or_default().into_owned();
        let fields = fields
            .iter()
            .map(|(key, raw)| (key.clone().into_owned(), Value::Raw(raw.get().to_owned())))
            .collect();
        let start = start.get().to_owned();
        Some(Self { index, kind, start, fields, changed: false, arguments: None })
    }

    /// Adds to a string.
    pub(super) fn append(&mut self, key: &str, piece: &RawValue) {
        let Some(piece) = lossless::escaped(piece) else { return };
        self.changed = true;
        match self.field(key) {
            Value::Text(text) => text.push_str(piece),
            other => *other = Value::Text(other.as_text() + piece),
        }
    }

    /// Adds to a list.
    pub(super) fn push(&mut self, key: &str, item: &RawValue) {
        self.changed = true;
        let value = self.field(key);
        let mut items = value.as_items();
        if !items.is_empty() {
            items.push(',');
        }
        items.push_str(item.get());
        *value = Value::List(items);
    }

    /// Adds to the text of the arguments.
    pub(super) fn argue(&mut self, piece: &str) {
        self.arguments.get_or_insert_default().push_str(piece);
    }

    /// Adds whatever a delta of an unknown type brings: text to text, anything else in its place.
    pub(super) fn merge(&mut self, fields: &Fields<'_>) {
        for (key, value) in fields.0.iter().filter(|(key, _)| key != "type") {
            if lossless::escaped(value).is_some() {
                self.append(key, value);
            } else {
                self.changed = true;
                *self.field(key) = Value::Raw(value.get().to_owned());
            }
        }
    }

    fn field(&mut self, key: &str) -> &mut Value {
        let at = self.fields.iter().position(|(known, _)| known == key).unwrap_or_else(|| {
            self.fields.push((key.to_owned(), Value::Raw("null".to_owned())));
            self.fields.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the place was found or made just above")]
        &mut self.fields[at].1
    }

    /// What became of it.
    pub(super) fn finish(self) -> Finished {
        let is_call = self.kind.ends_with("tool_use");
        if is_call { Finished::Call(self.call()) } else { Finished::Block(self.block()) }
    }

    fn block(self) -> Block {
        let text = if self.changed { object(&self.fields) } else { self.start };
        // Pieces of strings that are valid alone are valid together.
        Block::new(Raw::parse(text).unwrap_or_else(|_| Raw::encode(&())))
    }

    fn call(self) -> Call {
        let name = self.fields.iter().find(|(key, _)| key == "name");
        let name = name.map(|(_, value)| lossless::text_of_escaped(&value.as_text()));
        let at = self.fields.iter().position(|(key, _)| key == INPUT);
        let given = at.and_then(|at| self.fields.get(at)).map(|(_, value)| value.json());
        let at = at.unwrap_or(self.fields.len());
        let (before, rest) = self.fields.split_at_checked(at).unwrap_or_default();
        let rest = rest.get(1..).unwrap_or_default();
        let comma = if before.is_empty() { "" } else { "," };
        let before = format!("{{{}{comma}\"{INPUT}\":", list(before));
        let comma = if rest.is_empty() { "" } else { "," };
        let after = format!("{comma}{}}}", list(rest));
        // A start without arguments has an empty object in their place.
        let given = given.filter(|given| given.trim() != "{}").unwrap_or_default();
        let input = self.arguments.unwrap_or(given);
        Call { name: name.unwrap_or_default(), before, input, after }
    }
}

impl Value {
    fn as_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Raw(raw) => {
                let inside = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
                inside.unwrap_or_default().to_owned()
            }
            Self::List(_) => String::new(),
        }
    }

    fn as_items(&self) -> String {
        match self {
            Self::List(items) => items.clone(),
            Self::Raw(raw) => {
                let inside = raw.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                inside.unwrap_or_default().trim().to_owned()
            }
            Self::Text(_) => String::new(),
        }
    }

    fn json(&self) -> String {
        match self {
            Self::Raw(raw) => raw.clone(),
            Self::Text(text) => format!("\"{text}\""),
            Self::List(items) => format!("[{items}]"),
        }
    }
}

fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    lossless::text(raw)
}

fn object(fields: &[(String, Value)]) -> String {
    format!("{{{}}}", list(fields))
}

fn list(fields: &[(String, Value)]) -> String {
    let field =
        |(key, value): &(String, Value)| format!("{}:{}", Raw::string(key).text(), value.json());
    fields.iter().map(field).collect::<Vec<_>>().join(",")
}
