//! The input of a command tool: names with types, or a whole JSON Schema.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// The types that a name can have.
const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];

/// Returns the schema for names with types: `"string"`, `"integer?"` for one that may be left out,
/// or a table that is the JSON Schema of the value.
pub(super) fn schema_of_types(types: &BTreeMap<String, Value>) -> Result<Value, String> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, kind) in types {
        let (schema, is_optional) = property_schema(name, kind)?;
        properties.insert(name.clone(), schema);
        if !is_optional {
            required.push(name.clone());
        }
    }
    Ok(json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    }))
}

fn property_schema(name: &str, kind: &Value) -> Result<(Value, bool), String> {
    match kind {
        Value::String(text) => {
            let plain = text.strip_suffix('?').unwrap_or(text);
            if !TYPES.contains(&plain) {
                let known = TYPES.join(", ");
                return Err(format!(
                    "`input.{name}` is `{text}`; use one of {known}, with `?` behind it if it may be \
                     left out"
                ));
            }
            Ok((json!({"type": plain}), plain != text))
        }
        Value::Object(schema) => {
            let mut schema = schema.clone();
            let is_optional = match schema.remove("optional") {
                None => false,
                Some(Value::Bool(is_optional)) => is_optional,
                Some(_) => return Err(format!("`input.{name}.optional` must be true or false")),
            };
            Ok((Value::Object(schema), is_optional))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => Err(format!(
            "`input.{name}` must be a type such as \"string\", or a table that is its JSON Schema"
        )),
    }
}

/// Checks a schema that was given as a whole.
pub(super) fn check_whole_schema(schema: &Value) -> Result<(), String> {
    let is_object = schema.get("type").and_then(Value::as_str) == Some("object");
    match is_object {
        true => Ok(()),
        false => Err("`schema` must be a JSON Schema with `type = \"object\"`".to_owned()),
    }
}

/// The names of the values that a schema has.
pub(super) fn property_names(schema: &Value) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(|table| table.keys()).map(String::as_str).collect()
}
