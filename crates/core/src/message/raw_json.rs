//! JSON kept byte for byte. What a provider or a tool sent is stored, hashed and sent back as the
//! same text: key order, escapes, lone surrogates and unknown fields included.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Number, Value};
use sha2::{Digest, Sha256};

/// A JSON value as the text it arrived in.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawJson(Arc<RawValue>);

/// The text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid JSON: {reason}; send one JSON value")]
pub struct InvalidJson {
    reason: String,
}

impl RawJson {
    /// Keeps `text` unchanged, if it is one JSON value.
    pub fn parse(text: impl Into<String>) -> Result<Self, InvalidJson> {
        RawValue::from_string(text.into())
            .map(|raw| Self(Arc::from(raw)))
            .map_err(|e| InvalidJson { reason: e.to_string() })
    }

    /// Returns a JSON string with `text`.
    #[must_use]
    pub fn string(text: &str) -> Self {
        Self::encode(text)
    }

    /// Encodes a value whose serialisation cannot fail: strings, numbers, maps with string keys.
    #[must_use]
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Self {
        match serde_json::value::to_raw_value(value) {
            Ok(raw) => Self(Arc::from(raw)),
            Err(_) => Self(Arc::from(RawValue::NULL.to_owned())),
        }
    }

    /// Returns the exact text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// Reads the value as `T`.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.text())
    }

    /// Returns whether the value is a JSON object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.text().starts_with('{')
    }

    /// Returns SHA-256 over the canonical form (sorted keys, normalised numbers), as hex.
    ///
    /// Text that serde cannot hold as a value (a lone surrogate) is hashed unchanged: equal text
    /// still gives an equal hash, which is all that repeats and approvals need.
    #[must_use]
    pub fn canonical_hash_hex(&self) -> String {
        match serde_json::from_str::<Value>(self.text()) {
            Ok(value) => sha256_hex(canonicalise(value).to_string().as_bytes()),
            Err(_) => sha256_hex(self.text().as_bytes()),
        }
    }
}

/// Returns the canonical form. Numbers that are equal get one spelling: `1`, `1.0` and `1e0` are
/// `1`. Keys are sorted by being collected anew, whatever map the value came in.
fn canonicalise(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(as_exact_integer(&number).unwrap_or(number)),
        Value::Array(items) => items.into_iter().map(canonicalise).collect(),
        Value::Object(fields) => {
            let sorted: BTreeMap<String, Value> =
                fields.into_iter().map(|(key, value)| (key, canonicalise(value))).collect();
            sorted.into_iter().collect()
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value,
    }
}

/// Returns the integer that a fraction is equal to, where both are exact.
fn as_exact_integer(number: &Number) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let value = number.as_f64().filter(|_| number.is_f64())?;
    (value.fract() == 0.0 && value.abs() < EXACT).then(|| Number::from(value as i64))
}

/// Returns SHA-256 as lower-case hex.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

impl std::fmt::Debug for RawJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for RawJson {}

impl Hash for RawJson {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text().hash(state);
    }
}

/// Fast non-cryptographic fingerprint, equal on every machine, never stored; collisions can be
/// constructed.
#[must_use]
pub fn fingerprint(text: &str) -> u64 {
    let mix = |hash: u64, word: u64| {
        let mixed = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 32)
    };
    // Eight bytes at a time: results are long. The length tells a short end from one with zeros.
    let (words, end) = text.as_bytes().as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let end = end.iter().fold(0, |word, byte| (word << 8) | u64::from(*byte));
    mix(mix(words.fold(0xcbf2_9ce4_8422_2325, mix), end), text.len() as u64)
}
