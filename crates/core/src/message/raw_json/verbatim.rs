//! Keeps text that is known to be JSON, because it was built here, without parsing it again: tool
//! results are long, and parsing them costs more than writing them.

use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::value::RawValue;

#[cfg(test)]
#[path = "verbatim_tests.rs"]
mod verbatim_tests;

/// The name under which serde_json passes a raw value through its serialiser. It is private to
/// serde_json and may change, so the result is checked.
const TOKEN: &str = "$serde_json::private::RawValue";

struct VerbatimJson<'a>(&'a str);

impl Serialize for VerbatimJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct(TOKEN, 1)?;
        raw.serialize_field(TOKEN, self.0)?;
        raw.end()
    }
}

/// Returns the text as a raw value; `None` if serde_json did not accept it as one.
pub(super) fn keep_verbatim(json: &str) -> Option<Box<RawValue>> {
    let kept = serde_json::value::to_raw_value(&VerbatimJson(json)).ok()?;
    (kept.get().len() == json.len()).then_some(kept)
}
