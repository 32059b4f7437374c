//! Tests of the fast check against the full validator: it never accepts what that one rejects.

use serde_json::{Value, json};
use windlass_core::message::raw_json::RawJson;

use super::PlainSchema;
use crate::input_schema::compile_schema;

fn values() -> Vec<Value> {
    let mut values = vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(-3),
        json!(7),
        json!(1.0),
        json!(1.5),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("a"),
        json!("äöü"),
        json!("abcdef"),
        json!([]),
        json!([1]),
        json!(["a", "b"]),
        json!([1, "a", null]),
        json!({}),
    ];
    let members = values.clone();
    values.extend(members.iter().map(|value| json!({ "a": value })));
    values.extend(members.iter().map(|value| json!({ "a": "a", "b": value })));
    values.extend(members.iter().map(|value| json!([{ "a": value }, "a"])));
    values
}

fn simple_schemas() -> Vec<Value> {
    let mut schemas = vec![
        json!({}),
        json!({"title": "t", "description": "d", "default": 5, "examples": [1]}),
        json!({"type": ["string", "null"]}),
        json!({"type": ["integer", "array"], "minItems": 1}),
        json!({"enum": [1, "a", null, [1]]}),
        json!({"minimum": 1}),
        json!({"maximum": 1}),
        json!({"type": "number", "minimum": -3, "maximum": 1}),
        json!({"minLength": 1, "maxLength": 3}),
        json!({"minItems": 1, "maxItems": 2}),
        json!({"items": {"type": "integer"}}),
        json!({"items": {"required": ["a"]}}),
        json!({"required": ["a", "b"]}),
        json!({"additionalProperties": false}),
        json!({"properties": {"a": {"type": "string"}}, "additionalProperties": false}),
        json!({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}),
    ];
    for name in ["object", "array", "string", "integer", "number", "boolean", "null"] {
        schemas.push(json!({ "type": name }));
    }
    schemas
}

fn schemas() -> Vec<Value> {
    let simple = simple_schemas();
    let mut schemas = simple.clone();
    schemas.extend(simple.iter().map(|one| json!({"properties": {"a": one}, "required": ["a"]})));
    schemas.extend(simple.iter().map(|one| json!({"properties": {"b": {"items": one}}})));
    schemas.extend(simple.iter().map(|one| json!({"anyOf": [one, {"type": "null"}]})));
    schemas
}

#[test]
fn what_is_accepted_fits_and_what_is_usual_is_accepted() {
    let (mut accepted, mut fitting) = (0, 0);
    for schema in schemas() {
        let plain = PlainSchema::read(&schema).unwrap_or_else(|| panic!("{schema} is plain"));
        let validator = compile_schema(&RawJson::parse(schema.to_string()).unwrap()).unwrap();
        for value in values() {
            let (surely, fits) = (plain.surely_fits(&value), validator.is_valid(&value));
            assert!(fits || !surely, "{schema} {value}");
            accepted += u32::from(surely);
            fitting += u32::from(fits);
        }
    }
    // What is left to the validator: fractions where an integer is required, and huge numbers.
    assert!(accepted * 100 >= fitting * 97, "{accepted} of {fitting}");
}

#[test]
fn other_keywords_and_broken_ones_are_left_to_the_validator() {
    for schema in [
        json!(true),
        json!([]),
        json!({"type": "text"}),
        json!({"type": 5}),
        json!({"required": "a"}),
        json!({"required": ["a", "a"]}),
        json!({"minLength": -1}),
        json!({"minimum": 0.5}),
        json!({"enum": []}),
        json!({"anyOf": []}),
        json!({"title": 5}),
        json!({"properties": {"never": {"type": "text"}}}),
        json!({"additionalProperties": {"type": 5}}),
        json!({"items": [{"type": "string"}]}),
        json!({"pattern": "^a"}),
        json!({"$ref": "#/$defs/a"}),
        json!({"oneOf": [{}]}),
        json!({"not": {}}),
        json!({"patternProperties": {"^a": {}}}),
        json!({"format": "uri"}),
        json!({"dependentRequired": {"a": ["b"]}}),
        json!({"unknown": 1}),
    ] {
        assert!(PlainSchema::read(&schema).is_none(), "{schema}");
    }
}
