//! JSON that is known to be JSON because it was put together here, kept without reading it again:
//! results of tools are long, and reading them costs more than writing them.

use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::value::RawValue;

#[cfg(test)]
#[path = "verbatim_tests.rs"]
mod verbatim_tests;

/// The name under which serde_json passes a raw value through its serialiser. It is not promised to
/// stay; whoever uses it looks at what came out.
const TOKEN: &str = "$serde_json::private::RawValue";

struct Verbatim<'a>(&'a str);

impl Serialize for Verbatim<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct(TOKEN, 1)?;
        raw.serialize_field(TOKEN, self.0)?;
        raw.end()
    }
}

/// The same text as a value; nothing if serde_json did not take it for one.
pub(super) fn keep(json: &str) -> Option<Box<RawValue>> {
    let kept = serde_json::value::to_raw_value(&Verbatim(json)).ok()?;
    (kept.get().len() == json.len()).then_some(kept)
}
