//! Writes a block as JSON, field by field.

use windlass_core::message::raw_json::RawJson;

use super::open_block::INPUT;

/// An object being written, with a gap where the arguments go.
#[derive(Debug)]
pub(super) struct BlockWriter {
    pub(super) before: String,
    pub(super) after: String,
}

impl BlockWriter {
    pub(super) fn new(bytes: usize) -> Self {
        let mut before = String::with_capacity(bytes);
        before.push('{');
        Self { before, after: String::new() }
    }

    pub(super) fn into_json(self) -> String {
        self.before
    }

    /// The side of the gap that is being written.
    fn out_mut(&mut self) -> &mut String {
        if self.after.is_empty() { &mut self.before } else { &mut self.after }
    }

    pub(super) fn write_field(&mut self, key: &str, value: impl FnOnce(&mut String)) {
        let out = self.out_mut();
        if !out.ends_with('{') {
            out.push(',');
        }
        push_key(out, key);
        out.push(':');
        value(out);
    }

    pub(super) fn leave_input_gap(&mut self) {
        self.write_field(INPUT, |_| {});
        // Not empty: from here on the other side is written.
        self.after.push(' ');
    }

    pub(super) fn close(mut self, is_call: bool) -> Self {
        if is_call && self.after.is_empty() {
            self.leave_input_gap();
        }
        self.out_mut().push('}');
        if self.after.starts_with(' ') {
            self.after.remove(0);
        }
        self
    }
}

/// Writes a key as JSON; ordinary keys need no escapes.
fn push_key(out: &mut String, key: &str) {
    if key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        out.extend(["\"", key, "\""]);
    } else {
        out.push_str(RawJson::string(key).text());
    }
}
