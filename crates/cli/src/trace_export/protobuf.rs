//! The wire format of Protocol Buffers, as far as traces need it: fields of an encoded message.

/// A message that is being encoded.
#[derive(Debug, Default)]
pub(super) struct ProtobufMessage {
    bytes: Vec<u8>,
}

impl ProtobufMessage {
    /// Adds an integer; zero is the default and is left out.
    pub(super) fn add_integer(&mut self, field: u32, value: u64) {
        if value != 0 {
            self.add_key(field, 0);
            self.add_varint(value);
        }
    }

    /// Adds an integer even if it is zero: it is the chosen member of a `oneof`.
    pub(super) fn add_chosen_integer(&mut self, field: u32, value: u64) {
        self.add_key(field, 0);
        self.add_varint(value);
    }

    /// Adds a number of 64 bits in its fixed form.
    pub(super) fn add_fixed64(&mut self, field: u32, value: u64) {
        self.add_key(field, 1);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Adds bytes or a text.
    pub(super) fn add_bytes(&mut self, field: u32, value: &[u8]) {
        self.add_key(field, 2);
        self.add_varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    /// Adds a message within this one.
    pub(super) fn add_message(&mut self, field: u32, value: &Self) {
        self.add_bytes(field, &value.bytes);
    }

    /// Returns the encoded message.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn add_key(&mut self, field: u32, wire_type: u32) {
        self.add_varint(u64::from(field << 3 | wire_type));
    }

    fn add_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(low_bits(value) | 0x80);
            value >>= 7;
        }
        self.bytes.push(low_bits(value));
    }
}

/// The lowest seven bits.
fn low_bits(value: u64) -> u8 {
    u8::try_from(value & 0x7f).unwrap_or_default()
}
