//! Finds contradictions in a JSON schema: demands that no answer can meet together. It knows the
//! common ones and says nothing about the rest.

use serde_json::{Map, Value};

/// Nesting that is searched.
const MAX_DEPTH: usize = 16;

/// Returns a sentence for every contradiction in a schema, with its place.
#[must_use]
pub fn find_schema_conflicts(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    search(schema, "the answer", MAX_DEPTH, &mut found);
    found
}

fn search(schema: &Value, place: &str, depth: usize, found: &mut Vec<String>) {
    let Value::Object(fields) = schema else {
        if schema == &Value::Bool(false) {
            found.push(format!("{place} may have no value at all (`false`)"));
        }
        return;
    };
    if depth == 0 {
        return;
    }
    for (least, most) in [
        ("minimum", "maximum"),
        ("minLength", "maxLength"),
        ("minItems", "maxItems"),
        ("minProperties", "maxProperties"),
    ] {
        found.extend(range_conflict(fields, place, least, most));
    }
    found.extend(value_conflict(fields, place));
    found.extend(required_conflicts(fields, place));
    // What an object need not have cannot stand in the way of an answer.
    for name in required_names(fields) {
        if let Some(property) = fields.get("properties").and_then(|all| all.get(name)) {
            search(property, &format!("{place}.{name}"), depth - 1, found);
        }
    }
    let needs_items = fields.get("minItems").and_then(Value::as_u64).unwrap_or(0) > 0;
    if let Some(items) = fields.get("items").filter(|_| needs_items) {
        search(items, &format!("{place}[]"), depth - 1, found);
    }
    for part in fields.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        search(part, place, depth - 1, found);
    }
}

fn range_conflict(
    fields: &Map<String, Value>,
    place: &str,
    least: &str,
    most: &str,
) -> Option<String> {
    let (low, high) = (fields.get(least)?, fields.get(most)?);
    (low.as_f64()? > high.as_f64()?)
        .then(|| format!("{place} needs {least} {low}, which is above {most} {high}"))
}

/// A fixed value, or a list of them, that the type excludes.
fn value_conflict(fields: &Map<String, Value>, place: &str) -> Option<String> {
    let fits = |value: &Value| fields.get("type").is_none_or(|types| has_type(value, types));
    if let Some(only) = fields.get("const")
        && !fits(only)
    {
        return Some(format!("{place} must be {only}, which its type excludes"));
    }
    let choices = fields.get("enum")?.as_array()?;
    if choices.is_empty() {
        return Some(format!("{place} must be one of an empty list"));
    }
    (!choices.iter().any(fits))
        .then(|| format!("{place} must be one of values that its type excludes"))
}

fn has_type(value: &Value, types: &Value) -> bool {
    let is = |name: &str| match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    };
    match types {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}

/// Required properties that the schema does not let an object have.
fn required_conflicts(fields: &Map<String, Value>, place: &str) -> Vec<String> {
    let is_closed = fields.get("additionalProperties") == Some(&Value::Bool(false));
    let has_patterns = fields.contains_key("patternProperties");
    if !is_closed || has_patterns {
        return Vec::new();
    }
    let known = |name: &str| fields.get("properties").is_some_and(|all| all.get(name).is_some());
    required_names(fields)
        .filter(|name| !known(name))
        .map(|name| {
            format!("{place} requires the property {name:?}, but additionalProperties forbids it")
        })
        .collect()
}

fn required_names(fields: &Map<String, Value>) -> impl Iterator<Item = &str> {
    fields.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
