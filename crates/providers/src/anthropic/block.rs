//! A content block while it streams: what the server sent first, and what its deltas added.
//!
//! Fields nobody touched keep their exact text and their order, so block types nobody has invented
//! yet come out as the server would have sent them whole.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::value::RawValue;
use windlass_core::block::Block;
use windlass_core::raw::Raw;

use crate::draft::Call;
use crate::fields::Fields;
use crate::lossless;

/// The field that holds a call's arguments.
const INPUT: &str = "input";

/// Keys of usual blocks, so that nobody copies them.
const KNOWN_KEYS: [&str; 7] = ["type", "text", "id", "name", INPUT, "thinking", "signature"];

#[derive(Debug)]
pub(super) struct OpenBlock {
    pub(super) index: u64,
    is_call: bool,
    start: String,
    fields: Vec<Field>,
    changes: Vec<Change>,
    arguments: Option<String>,
}

/// A field of the start event, by where its value stands in the event's text.
#[derive(Debug)]
struct Field {
    key: Cow<'static, str>,
    value: Range<usize>,
}

/// A field that deltas added to.
#[derive(Debug)]
struct Change {
    key: Cow<'static, str>,
    value: Value,
}

#[derive(Debug)]
enum Value {
    /// A string, by what stands between its quotes.
    Text(String),
    /// A list, by what stands between its brackets.
    List(String),
    /// Anything else.
    Raw(String),
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
        let fields: Fields<'_> = serde_json::from_str(start.get()).ok()?;
        let kind = fields.get("type").and_then(lossless::text).unwrap_or_default();
        let is_call = kind.ends_with("tool_use");
        let fields = fields.0.iter().map(|(key, value)| Field::new(key, value, start)).collect();
        let start = start.get().to_owned();
        Some(Self { index, is_call, start, fields, changes: Vec::new(), arguments: None })
    }

    /// The exact text of a field's value.
    fn given(&self, key: &str) -> Option<&str> {
        let field = self.fields.iter().find(|field| field.key == key)?;
        self.start.get(field.value.clone())
    }

    /// Adds to a string.
    pub(super) fn append(&mut self, key: impl Into<Cow<'static, str>>, piece: &RawValue) {
        if let Some(piece) = lossless::escaped(piece) {
            self.append_escaped(key, piece);
        }
    }

    /// The same with what stands between the quotes.
    pub(super) fn append_escaped(&mut self, key: impl Into<Cow<'static, str>>, piece: &str) {
        match self.change(key.into(), as_text) {
            Value::Text(text) => text.push_str(piece),
            other => *other = Value::Text(piece.to_owned()),
        }
    }

    /// Adds to a list.
    pub(super) fn push(&mut self, key: &'static str, item: &RawValue) {
        match self.change(Cow::Borrowed(key), as_list) {
            Value::List(items) => {
                if !items.is_empty() {
                    items.push(',');
                }
                items.push_str(item.get());
            }
            other => *other = Value::List(item.get().to_owned()),
        }
    }

    /// Adds to the text of the arguments.
    pub(super) fn argue(&mut self, piece: &str) {
        self.arguments.get_or_insert_default().push_str(piece);
    }

    /// Adds whatever a delta of an unknown type brings: text to text, anything else in its place.
    pub(super) fn merge(&mut self, fields: &Fields<'_>) {
        for (key, value) in fields.0.iter().filter(|(key, _)| key != "type") {
            let key = Cow::Owned(key.clone().into_owned());
            if lossless::escaped(value).is_some() {
                self.append(key, value);
            } else {
                *self.change(key, as_raw) = Value::Raw(value.get().to_owned());
            }
        }
    }

    /// A field to be changed; it begins as the start event has it.
    fn change(&mut self, key: Cow<'static, str>, begin: fn(&str) -> Value) -> &mut Value {
        let at = self.changes.iter().position(|change| change.key == key).unwrap_or_else(|| {
            let value = begin(self.given(&key).unwrap_or("null"));
            self.changes.push(Change { key, value });
            self.changes.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the place was found or made just above")]
        &mut self.changes[at].value
    }

    /// What became of it.
    pub(super) fn finish(self) -> Finished {
        if self.is_call { Finished::Call(self.call()) } else { Finished::Block(self.block()) }
    }

    fn block(self) -> Block {
        let text = if self.changes.is_empty() { self.start } else { self.changed().whole() };
        // Pieces of strings that are valid alone are valid together.
        Block::new(Raw::parse(text).unwrap_or_else(|_| Raw::encode(&())))
    }

    fn call(mut self) -> Call {
        let arguments = self.arguments.take();
        let name = self.given("name").and_then(lossless::text_of).unwrap_or_default().into_owned();
        // A start without arguments has an empty object in their place.
        let given = self.given(INPUT).map(str::trim).filter(|given| *given != "{}");
        let input = arguments.or(given.map(str::to_owned)).unwrap_or_default();
        let Written { before, after } = self.changed();
        Call { name, before, input, after }
    }

    /// The block's JSON before and after its arguments; all of it before, if it has none.
    fn changed(&self) -> Written {
        let is_changed = |key: &str| self.changes.iter().find(|change| change.key == key);
        let mut written =
            Written::new(self.start.len() + self.changes.iter().map(Change::bytes).sum::<usize>());
        for Field { key, value } in &self.fields {
            let given = self.start.get(value.clone()).unwrap_or_default();
            match is_changed(key) {
                _ if self.is_call && key == INPUT => written.input(),
                Some(change) => written.field(key, |out| change.value.write(out)),
                None => written.field(key, |out| out.push_str(given)),
            }
        }
        for change in self.changes.iter().filter(|change| self.given(&change.key).is_none()) {
            written.field(&change.key, |out| change.value.write(out));
        }
        written.close(self.is_call)
    }
}

impl Field {
    fn new(key: &str, value: &RawValue, of: &RawValue) -> Self {
        let from = value.get().as_ptr().addr().saturating_sub(of.get().as_ptr().addr());
        let known = KNOWN_KEYS.iter().find(|known| **known == key);
        let key = known.map_or_else(|| Cow::Owned(key.to_owned()), |known| Cow::Borrowed(*known));
        Self { key, value: from..from + value.get().len() }
    }
}

impl Change {
    fn bytes(&self) -> usize {
        let value = match &self.value {
            Value::Text(text) | Value::List(text) | Value::Raw(text) => text.len(),
        };
        self.key.len() + value + 8
    }
}

impl Value {
    fn write(&self, out: &mut String) {
        match self {
            Self::Raw(raw) => out.push_str(raw),
            Self::Text(text) => out.extend(["\"", text, "\""]),
            Self::List(items) => out.extend(["[", items, "]"]),
        }
    }
}

fn as_text(raw: &str) -> Value {
    let inside = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    Value::Text(inside.unwrap_or_default().to_owned())
}

fn as_list(raw: &str) -> Value {
    let inside = raw.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    Value::List(inside.unwrap_or_default().trim().to_owned())
}

fn as_raw(raw: &str) -> Value {
    Value::Raw(raw.to_owned())
}

/// An object being written, with a gap where the arguments go.
#[derive(Debug)]
struct Written {
    before: String,
    after: String,
}

impl Written {
    fn new(bytes: usize) -> Self {
        let mut before = String::with_capacity(bytes);
        before.push('{');
        Self { before, after: String::new() }
    }

    fn whole(self) -> String {
        self.before
    }

    /// The side of the gap that is being written.
    fn out(&mut self) -> &mut String {
        if self.after.is_empty() { &mut self.before } else { &mut self.after }
    }

    fn field(&mut self, key: &str, value: impl FnOnce(&mut String)) {
        let out = self.out();
        if !out.ends_with('{') {
            out.push(',');
        }
        push_key(out, key);
        out.push(':');
        value(out);
    }

    fn input(&mut self) {
        self.field(INPUT, |_| {});
        // Anything but empty: from here on the other side is written.
        self.after.push(' ');
    }

    fn close(mut self, is_call: bool) -> Self {
        if is_call && self.after.is_empty() {
            self.input();
        }
        self.out().push('}');
        if self.after.starts_with(' ') {
            self.after.remove(0);
        }
        self
    }
}

/// A key as JSON; ordinary ones need no escapes.
fn push_key(out: &mut String, key: &str) {
    if key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        out.extend(["\"", key, "\""]);
    } else {
        out.push_str(Raw::string(key).text());
    }
}
