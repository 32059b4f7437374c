//! Writes JSON objects and lists field by field, in the given order.

use serde::Serialize;

use crate::json::json_string;

/// An object being written.
pub(crate) struct JsonObjectWriter<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
}

impl<'a> JsonObjectWriter<'a> {
    /// Opens an object.
    pub(crate) fn open(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, first: true }
    }

    /// Continues an object that has fields already.
    pub(crate) fn resume(out: &'a mut Vec<u8>) -> Self {
        Self { out, first: false }
    }

    /// Writes a key; the caller writes the value into the returned buffer.
    pub(crate) fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
        json_string::push_string(self.out, key);
        self.out.push(b':');
        self.out
    }

    pub(crate) fn string(&mut self, key: &str, text: &str) {
        json_string::push_string(self.key(key), text);
    }

    /// Writes a field whose value is JSON already.
    pub(crate) fn raw(&mut self, key: &str, json: &str) {
        self.key(key).extend_from_slice(json.as_bytes());
    }

    /// Writes a field with a value whose serialisation cannot fail.
    pub(crate) fn value(&mut self, key: &str, value: &impl Serialize) {
        let _ = serde_json::to_writer(self.key(key), value);
    }

    pub(crate) fn close(self) {
        self.out.push(b'}');
    }
}

/// A list being written.
pub(crate) struct JsonListWriter<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
}

impl<'a> JsonListWriter<'a> {
    /// Opens a list.
    pub(crate) fn open(out: &'a mut Vec<u8>) -> Self {
        out.push(b'[');
        Self { out, first: true }
    }

    /// Starts the next item; the caller writes it into the returned buffer.
    pub(crate) fn item(&mut self) -> &mut Vec<u8> {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
        self.out
    }

    pub(crate) fn close(self) {
        self.out.push(b']');
    }
}
