//! A JSON object as an ordered list of fields with their exact text.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The number of fields of a usual object, allocated at once.
const EXPECTED_FIELDS: usize = 8;

/// A JSON object as its fields, in order.
#[derive(Debug, Default)]
pub(crate) struct ObjectFields<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for ObjectFields<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectFieldsVisitor)
    }
}

struct ObjectFieldsVisitor;

impl<'de> serde::de::Visitor<'de> for ObjectFieldsVisitor {
    type Value = ObjectFields<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(
        self,
        mut map: A,
    ) -> Result<ObjectFields<'de>, A::Error> {
        let mut fields = Vec::with_capacity(EXPECTED_FIELDS);
        while let Some(FieldKey(key)) = map.next_key::<FieldKey<'de>>()? {
            fields.push((key, map.next_value()?));
        }
        Ok(ObjectFields(fields))
    }
}

/// A key, borrowed where possible.
#[derive(Deserialize)]
struct FieldKey<'a>(#[serde(borrow)] Cow<'a, str>);
