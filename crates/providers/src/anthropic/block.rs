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
    is_call: bool,
    start: String,
    changes: Vec<Change>,
    arguments: Option<String>,
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
        let start = start.get().to_owned();
        Some(Self { index, is_call, start, changes: Vec::new(), arguments: None })
    }

    /// Adds to a string.
    pub(super) fn append(&mut self, key: impl Into<Cow<'static, str>>, piece: &RawValue) {
        let Some(piece) = lossless::escaped(piece) else { return };
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
            let fields: Fields<'_> = serde_json::from_str(&self.start).unwrap_or_default();
            let value = begin(fields.get(&key).map_or("null", RawValue::get));
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
        let fields: Fields<'_> = serde_json::from_str(&self.start).unwrap_or_default();
        let name = fields.get("name").and_then(lossless::text).unwrap_or_default().into_owned();
        // A start without arguments has an empty object in their place.
        let given =
            fields.get(INPUT).map(|given| given.get().trim()).filter(|given| *given != "{}");
        let input = arguments.or(given.map(str::to_owned)).unwrap_or_default();
        let Written { before, after } = self.changed();
        Call { name, before, input, after }
    }

    /// The block's JSON before and after its arguments; all of it before, if it has none.
    fn changed(&self) -> Written {
        let fields: Fields<'_> = serde_json::from_str(&self.start).unwrap_or_default();
        let is_changed = |key: &str| self.changes.iter().find(|change| change.key == key);
        let mut written =
            Written::new(self.start.len() + self.changes.iter().map(Change::bytes).sum::<usize>());
        for (key, raw) in &fields.0 {
            match is_changed(key) {
                _ if self.is_call && key == INPUT => written.input(),
                Some(change) => written.field(key, |out| change.value.write(out)),
                None => written.field(key, |out| out.push_str(raw.get())),
            }
        }
        for change in self.changes.iter().filter(|change| fields.get(&change.key).is_none()) {
            written.field(&change.key, |out| change.value.write(out));
        }
        written.close(self.is_call)
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
