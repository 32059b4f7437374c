//! A content block while it streams: what the server sent first, and what its deltas added.
//!
//! Fields nobody touched keep their exact text and their order, so block types nobody has invented
//! yet come out as the server would have sent them whole.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde_json::value::RawValue;
use windlass_core::block::Block;
use windlass_core::raw::Raw;

use super::change::{Change, Value, as_list, as_raw, as_text};
use super::written::Written;
use crate::draft::{Around, Call};
use crate::fields::Fields;
use crate::lossless;

/// The field that holds a call's arguments.
pub(super) const INPUT: &str = "input";

/// Keys of usual blocks, so that nobody copies them.
const KNOWN_KEYS: [&str; 7] = ["type", "text", "id", "name", INPUT, "thinking", "signature"];

/// Fields of a usual block and bytes of usual arguments: room for them is made at once.
const USUAL_FIELDS: usize = 4;
const USUAL_ARGUMENTS: usize = 64;

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
        let fields = fields.0.iter().map(|(key, value)| (key.as_ref(), value.get()));
        Some(Self::with_fields(index, start.get(), fields))
    }

    /// The same with fields that were read already: keys, and values that are pieces of `start`.
    pub(super) fn with_fields<'a>(
        index: u64,
        start: &str,
        fields: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut given = Vec::with_capacity(USUAL_FIELDS);
        given.extend(fields.map(|(key, value)| Field::new(key, value, start)));
        let mut block = Self {
            index,
            is_call: false,
            start: start.to_owned(),
            fields: given,
            changes: Vec::new(),
            arguments: None,
        };
        let kind = block.given("type").and_then(lossless::text_of);
        block.is_call = kind.is_some_and(|kind| kind.ends_with("tool_use"));
        block
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

    /// The text of the arguments, to be added to.
    pub(super) fn arguments(&mut self) -> &mut String {
        self.arguments.get_or_insert_with(|| String::with_capacity(USUAL_ARGUMENTS))
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
        if let Some(text) = self.usual_text() {
            return Block::text(text);
        }
        let text = if self.changes.is_empty() { self.start } else { self.changed().whole() };
        // Pieces of strings that are valid alone are valid together.
        Block::new(Raw::parse(text).unwrap_or_else(|_| Raw::encode(&())))
    }

    fn call(mut self) -> Call {
        let arguments = self.arguments.take();
        // A start without arguments has an empty object in their place.
        let given = self.given(INPUT).map(str::trim).filter(|given| *given != "{}");
        let input = arguments.or(given.map(str::to_owned)).unwrap_or_default();
        if let Some((id, name)) = self.usual_call() {
            return Call::new(id, name, input);
        }
        let name = Arc::from(self.given("name").and_then(lossless::text_of).unwrap_or_default());
        let Written { before, after } = self.changed();
        Call { name, input, around: Around::Other { before, after } }
    }

    /// What a text block says, if it is written as we would write it.
    fn usual_text(&self) -> Option<&str> {
        let [Change { key, value: Value::Text(text) }] = self.changes.as_slice() else {
            return None;
        };
        let usual = key == "text" && self.has(["type", "text"]);
        let plain = usual && memchr::memchr(b'\\', text.as_bytes()).is_none();
        (plain && self.given("type") == Some("\"text\"")).then_some(text)
    }

    /// Id and name of a call, if all but its arguments is written as we would write it.
    fn usual_call(&self) -> Option<(&str, &str)> {
        let usual = self.changes.is_empty() && self.has(["type", "id", "name", INPUT]);
        let is_call = usual && self.given("type") == Some("\"tool_use\"");
        let plain = |key| plain(self.given(key)?);
        plain("id").zip(plain("name")).filter(|_| is_call)
    }

    /// Whether these are its fields, in this order.
    fn has<const COUNT: usize>(&self, keys: [&str; COUNT]) -> bool {
        self.fields.iter().map(|field| field.key.as_ref()).eq(keys)
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
    fn new(key: &str, value: &str, of: &str) -> Self {
        let from = value.as_ptr().addr().saturating_sub(of.as_ptr().addr());
        let known = KNOWN_KEYS.iter().find(|known| **known == key);
        let key = known.map_or_else(|| Cow::Owned(key.to_owned()), |known| Cow::Borrowed(*known));
        Self { key, value: from..from + value.len() }
    }
}

/// What a string says that needs no escapes.
fn plain(json: &str) -> Option<&str> {
    match lossless::text_of(json)? {
        Cow::Borrowed(text) => Some(text),
        Cow::Owned(_) => None,
    }
}
