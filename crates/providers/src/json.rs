//! JSON objects written field by field, in the order they are named.

use serde::Serialize;

use crate::lossless;

/// An object being written.
pub(crate) struct Object<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
}

impl<'a> Object<'a> {
    /// Opens an object.
    pub(crate) fn open(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, first: true }
    }

    /// Goes on with an object that has fields already.
    pub(crate) fn resume(out: &'a mut Vec<u8>) -> Self {
        Self { out, first: false }
    }

    /// Names a field; whoever is given the buffer writes its value.
    pub(crate) fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
        lossless::push_string(self.out, key);
        self.out.push(b':');
        self.out
    }

    pub(crate) fn string(&mut self, key: &str, text: &str) {
        lossless::push_string(self.key(key), text);
    }

    /// JSON as it stands.
    pub(crate) fn raw(&mut self, key: &str, json: &str) {
        self.key(key).extend_from_slice(json.as_bytes());
    }

    /// Anything whose serialisation cannot fail.
    pub(crate) fn value(&mut self, key: &str, value: &impl Serialize) {
        let _ = serde_json::to_writer(self.key(key), value);
    }

    pub(crate) fn close(self) {
        self.out.push(b'}');
    }
}

/// A list being written.
pub(crate) struct List<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
}

impl<'a> List<'a> {
    /// Opens a list.
    pub(crate) fn open(out: &'a mut Vec<u8>) -> Self {
        out.push(b'[');
        Self { out, first: true }
    }

    /// The next item; whoever is given the buffer writes it.
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
