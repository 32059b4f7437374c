//! A block as JSON again, field by field.

use windlass_core::raw::Raw;

use super::block::INPUT;

/// An object being written, with a gap where the arguments go.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) before: String,
    pub(super) after: String,
}

impl Written {
    pub(super) fn new(bytes: usize) -> Self {
        let mut before = String::with_capacity(bytes);
        before.push('{');
        Self { before, after: String::new() }
    }

    pub(super) fn whole(self) -> String {
        self.before
    }

    /// The side of the gap that is being written.
    fn out(&mut self) -> &mut String {
        if self.after.is_empty() { &mut self.before } else { &mut self.after }
    }

    pub(super) fn field(&mut self, key: &str, value: impl FnOnce(&mut String)) {
        let out = self.out();
        if !out.ends_with('{') {
            out.push(',');
        }
        push_key(out, key);
        out.push(':');
        value(out);
    }

    pub(super) fn input(&mut self) {
        self.field(INPUT, |_| {});
        // Anything but empty: from here on the other side is written.
        self.after.push(' ');
    }

    pub(super) fn close(mut self, is_call: bool) -> Self {
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
