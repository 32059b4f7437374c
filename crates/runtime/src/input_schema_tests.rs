//! Tests: which draft a schema is compiled as, and that this does not change its meaning.

use windlass_core::message::raw_json::RawJson;

use super::InputSchema;
use crate::json_schema::is_same_in_draft_7;

fn fits(schema: &str, input: &str) -> bool {
    let schema = RawJson::parse(schema).unwrap();
    InputSchema::default().validate(|| schema.clone(), &RawJson::parse(input).unwrap()).is_none()
}

fn is_plain(schema: &str) -> bool {
    is_same_in_draft_7(&serde_json::from_str(schema).unwrap())
}

#[test]
fn keywords_keep_the_meaning_of_2020_12() {
    for (schema, good, bad) in [
        (
            r#"{"properties":{"a":{"prefixItems":[{"type":"string"}]}}}"#,
            r#"{"a":["x"]}"#,
            r#"{"a":[1]}"#,
        ),
        // Draft 7 ignores keywords beside a reference.
        (
            r##"{"properties":{"a":{"$ref":"#/$defs/n","minimum":5}},"$defs":{"n":{"type":"integer"}}}"##,
            r#"{"a":6}"#,
            r#"{"a":4}"#,
        ),
        (r#"{"properties":{"a":true},"unevaluatedProperties":false}"#, r#"{"a":1}"#, r#"{"b":1}"#),
        (r#"{"dependentRequired":{"a":["b"]}}"#, r#"{"a":1,"b":1}"#, r#"{"a":1}"#),
        (
            r#"{"properties":{"a":{"minContains":2,"contains":{"type":"integer"}}}}"#,
            r#"{"a":[1,2]}"#,
            r#"{"a":[1]}"#,
        ),
    ] {
        assert!(!is_plain(schema), "{schema}");
        assert!(fits(schema, good) && !fits(schema, bad), "{schema}");
    }
}

#[test]
fn schemas_of_ordinary_tools_are_plain() {
    for (schema, good, bad) in [
        (
            r#"{"type":"object","properties":{"a":{"type":"string","minLength":1}},"required":["a"]}"#,
            r#"{"a":"x"}"#,
            r#"{"a":""}"#,
        ),
        (
            r#"{"properties":{"a":{"type":"array","items":{"enum":[1]}}},"additionalProperties":false}"#,
            r#"{"a":[1]}"#,
            r#"{"a":[2]}"#,
        ),
        (
            r#"{"properties":{"a":{"anyOf":[{"const":1},{"not":{"type":"integer"}}]}}}"#,
            r#"{"a":"x"}"#,
            r#"{"a":2}"#,
        ),
    ] {
        assert!(is_plain(schema), "{schema}");
        assert!(fits(schema, good) && !fits(schema, bad), "{schema}");
    }
    // A property may have the name of a keyword.
    assert!(is_plain(r#"{"properties":{"$ref":{"type":"string"}}}"#));
    assert!(!is_plain(r#"{"properties":{"a":{"items":[{"type":"string"}]}}}"#));
}
