//! A 128-bit hash of states: wide enough that two states of one exploration never share it.

use std::hash::{Hash, Hasher};

const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0xd6e8_feb8_6659_fd93;

/// Two multiply-and-fold lanes over the same words.
pub(crate) struct WideHasher {
    a: u64,
    b: u64,
}

/// Returns the hash of `value`.
pub(crate) fn wide<T: Hash + ?Sized>(value: &T) -> u128 {
    let mut hasher = WideHasher { a: FIRST, b: SECOND };
    value.hash(&mut hasher);
    hasher.both()
}

impl WideHasher {
    pub(crate) fn new() -> Self {
        Self { a: FIRST, b: SECOND }
    }

    pub(crate) fn both(&self) -> u128 {
        u128::from(fold(self.a, SECOND)) << 64 | u128::from(fold(self.b, FIRST))
    }

    fn mix(&mut self, word: u64) {
        self.a = fold(self.a.rotate_left(5) ^ word, FIRST);
        self.b = fold(self.b.rotate_left(23) ^ word, SECOND);
    }
}

fn fold(word: u64, by: u64) -> u64 {
    let product = u128::from(word) * u128::from(by);
    (product as u64) ^ ((product >> 64) as u64)
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

impl Hasher for WideHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (whole, rest) = bytes.as_chunks::<8>();
        for chunk in whole {
            self.mix(u64::from_le_bytes(*chunk));
        }
        self.mix(word(rest) ^ (bytes.len() as u64) << 56);
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(u64::from(value));
    }

    fn write_u16(&mut self, value: u16) {
        self.mix(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.mix(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }

    fn finish(&self) -> u64 {
        self.a
    }
}

/// Passes a hash through: the keys of the visited set are hashes already.
#[derive(Default, Clone)]
pub(crate) struct PassThroughHasher(u64);

impl Hasher for PassThroughHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 ^= word(bytes.get(..8).unwrap_or(bytes));
    }

    fn write_u128(&mut self, value: u128) {
        self.0 = value as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
