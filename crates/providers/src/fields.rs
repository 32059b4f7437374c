//! JSON objects as their fields, in order and verbatim.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// Fields of a usual object: room for them is made at once.
const USUAL_FIELDS: usize = 8;

/// A JSON object as its fields, in order.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> serde::de::Visitor<'de> for InOrder {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Vec::with_capacity(USUAL_FIELDS);
        while let Some(Key(key)) = map.next_key::<Key<'de>>()? {
            fields.push((key, map.next_value()?));
        }
        Ok(Fields(fields))
    }
}

/// A key, borrowed where it can be.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
