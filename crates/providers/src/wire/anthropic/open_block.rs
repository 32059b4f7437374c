//! A content block while it streams: what the server sent first, and what its deltas added.
//!
//! Fields that no delta changes keep their exact text and order, so unknown block types come out as
//! the server would have sent them whole.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde_json::value::RawValue;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::raw_json::RawJson;

use super::block_writer::BlockWriter;
use super::field_change::{ChangedValue, FieldChange, list_value, raw_value, text_value};
use crate::json::json_string;
use crate::json::object_fields::ObjectFields;
use crate::wire::reply_builder::{CallFrame, StreamedCall};

/// The field that holds a call's arguments.
pub(super) const INPUT: &str = "input";

/// Keys of common blocks, borrowed instead of copied.
const KNOWN_KEYS: [&str; 7] = ["type", "text", "id", "name", INPUT, "thinking", "signature"];

/// The number of fields of a usual block and the bytes of usual arguments, allocated at once.
const EXPECTED_FIELDS: usize = 4;
const EXPECTED_ARGUMENT_BYTES: usize = 64;

#[derive(Debug)]
pub(super) struct OpenBlock {
    pub(super) index: u64,
    is_call: bool,
    start: String,
    fields: Vec<BlockField>,
    changes: Vec<FieldChange>,
    arguments: Option<String>,
}

/// A field of the start event, by the position of its value in the event's text.
#[derive(Debug)]
struct BlockField {
    key: Cow<'static, str>,
    value: Range<usize>,
}

/// A block that is complete.
#[derive(Debug)]
pub(super) enum FinishedBlock {
    Block(ContentBlock),
    Call(StreamedCall),
}

impl OpenBlock {
    /// Creates a block from its start event; `None` if it is not an object.
    pub(super) fn new(index: u64, start: &RawValue) -> Option<Self> {
        let fields: ObjectFields<'_> = serde_json::from_str(start.get()).ok()?;
        let fields = fields.0.iter().map(|(key, value)| (key.as_ref(), value.get()));
        Some(Self::with_fields(index, start.get(), fields))
    }

    /// Creates a block from fields that were parsed already: keys, and values that are parts of
    /// `start`.
    pub(super) fn with_fields<'a>(
        index: u64,
        start: &str,
        fields: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut given = Vec::with_capacity(EXPECTED_FIELDS);
        given.extend(fields.map(|(key, value)| BlockField::new(key, value, start)));
        let mut block = Self {
            index,
            is_call: false,
            start: start.to_owned(),
            fields: given,
            changes: Vec::new(),
            arguments: None,
        };
        let kind = block.start_value("type").and_then(json_string::decode_string);
        block.is_call = kind.is_some_and(|kind| kind.ends_with("tool_use"));
        block
    }

    /// The exact text of a field's value.
    fn start_value(&self, key: &str) -> Option<&str> {
        let field = self.fields.iter().find(|field| field.key == key)?;
        self.start.get(field.value.clone())
    }

    /// Appends to a string field.
    pub(super) fn append(&mut self, key: impl Into<Cow<'static, str>>, raw: &RawValue) {
        if let Some(chunk) = json_string::raw_string_contents(raw) {
            self.append_escaped(key, chunk);
        }
    }

    /// Appends to a string field, given the text between the quotes.
    pub(super) fn append_escaped(&mut self, key: impl Into<Cow<'static, str>>, chunk: &str) {
        match self.changed_value_mut(key.into(), text_value) {
            ChangedValue::Text(text) => text.push_str(chunk),
            other => *other = ChangedValue::Text(chunk.to_owned()),
        }
    }

    /// Appends to a list field.
    pub(super) fn push_list_item(&mut self, key: &'static str, item: &RawValue) {
        match self.changed_value_mut(Cow::Borrowed(key), list_value) {
            ChangedValue::List(items) => {
                if !items.is_empty() {
                    items.push(',');
                }
                items.push_str(item.get());
            }
            other => *other = ChangedValue::List(item.get().to_owned()),
        }
    }

    /// The text of the arguments, to be appended to.
    pub(super) fn arguments_mut(&mut self) -> &mut String {
        self.arguments.get_or_insert_with(|| String::with_capacity(EXPECTED_ARGUMENT_BYTES))
    }

    /// Merges a delta of an unknown type: strings are appended to strings, any other value replaces
    /// the field.
    pub(super) fn merge(&mut self, fields: &ObjectFields<'_>) {
        for (key, value) in fields.0.iter().filter(|(key, _)| key != "type") {
            let key = Cow::Owned(key.clone().into_owned());
            if json_string::raw_string_contents(value).is_some() {
                self.append(key, value);
            } else {
                *self.changed_value_mut(key, raw_value) = ChangedValue::Raw(value.get().to_owned());
            }
        }
    }

    /// The value of a field to be changed; it begins with that of the start event.
    fn changed_value_mut(
        &mut self,
        key: Cow<'static, str>,
        begin: fn(&str) -> ChangedValue,
    ) -> &mut ChangedValue {
        let at = self.changes.iter().position(|change| change.key == key).unwrap_or_else(|| {
            let value = begin(self.start_value(&key).unwrap_or("null"));
            self.changes.push(FieldChange { key, value });
            self.changes.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the place was found or made just above")]
        &mut self.changes[at].value
    }

    /// Returns the finished block.
    pub(super) fn finish(self) -> FinishedBlock {
        if self.is_call {
            FinishedBlock::Call(self.into_call())
        } else {
            FinishedBlock::Block(self.into_block())
        }
    }

    fn into_block(self) -> ContentBlock {
        if let Some(text) = self.standard_text() {
            return ContentBlock::text(text);
        }
        let text =
            if self.changes.is_empty() { self.start } else { self.write_with_gap().into_json() };
        // Joined pieces of valid strings are valid.
        ContentBlock::new(RawJson::parse(text).unwrap_or_else(|_| RawJson::encode(&())))
    }

    fn into_call(mut self) -> StreamedCall {
        let arguments = self.arguments.take();
        // A start event without arguments has an empty object in their place.
        let given = self.start_value(INPUT).map(str::trim).filter(|given| *given != "{}");
        let input = arguments.or(given.map(str::to_owned)).unwrap_or_default();
        if let Some((id, name)) = self.standard_call() {
            return StreamedCall::new(id, name, input);
        }
        let name = Arc::from(
            self.start_value("name").and_then(json_string::decode_string).unwrap_or_default(),
        );
        let BlockWriter { before, after } = self.write_with_gap();
        StreamedCall { name, input, frame: CallFrame::Verbatim { before, after } }
    }

    /// The text of a text block, if it is written as our own encoder writes it.
    fn standard_text(&self) -> Option<&str> {
        let [FieldChange { key, value: ChangedValue::Text(text) }] = self.changes.as_slice() else {
            return None;
        };
        let usual = key == "text" && self.has_exactly_fields(["type", "text"]);
        let plain = usual && memchr::memchr(b'\\', text.as_bytes()).is_none();
        (plain && self.start_value("type") == Some("\"text\"")).then_some(text)
    }

    /// The id and name of a call, if everything but its arguments is written as our own encoder
    /// writes it.
    fn standard_call(&self) -> Option<(&str, &str)> {
        let usual =
            self.changes.is_empty() && self.has_exactly_fields(["type", "id", "name", INPUT]);
        let is_call = usual && self.start_value("type") == Some("\"tool_use\"");
        let plain = |key| unescaped_str(self.start_value(key)?);
        plain("id").zip(plain("name")).filter(|_| is_call)
    }

    /// Returns whether these are its fields, in this order.
    fn has_exactly_fields<const COUNT: usize>(&self, keys: [&str; COUNT]) -> bool {
        self.fields.iter().map(|field| field.key.as_ref()).eq(keys)
    }

    /// The block's JSON before and after its arguments; all of it before, if it has none.
    fn write_with_gap(&self) -> BlockWriter {
        let is_changed = |key: &str| self.changes.iter().find(|change| change.key == key);
        let mut written = BlockWriter::new(
            self.start.len() + self.changes.iter().map(FieldChange::encoded_len).sum::<usize>(),
        );
        for BlockField { key, value } in &self.fields {
            let given = self.start.get(value.clone()).unwrap_or_default();
            match is_changed(key) {
                _ if self.is_call && key == INPUT => written.leave_input_gap(),
                Some(change) => written.write_field(key, |out| change.value.write(out)),
                None => written.write_field(key, |out| out.push_str(given)),
            }
        }
        for change in self.changes.iter().filter(|change| self.start_value(&change.key).is_none()) {
            written.write_field(&change.key, |out| change.value.write(out));
        }
        written.close(self.is_call)
    }
}

impl BlockField {
    fn new(key: &str, value: &str, of: &str) -> Self {
        let from = value.as_ptr().addr().saturating_sub(of.as_ptr().addr());
        let known = KNOWN_KEYS.iter().find(|known| **known == key);
        let key = known.map_or_else(|| Cow::Owned(key.to_owned()), |known| Cow::Borrowed(*known));
        Self { key, value: from..from + value.len() }
    }
}

/// The text of a string that needs no escapes.
fn unescaped_str(json: &str) -> Option<&str> {
    match json_string::decode_string(json)? {
        Cow::Borrowed(text) => Some(text),
        Cow::Owned(_) => None,
    }
}
