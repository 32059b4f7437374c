//! Answers that match a schema, answers that do not, and invalid schemas.

use windlass_core::message::raw_json::RawJson;
use windlass_runtime::ports::Tool;

use super::StructuredOutput;

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {"n": {"type": "integer"}, "who": {"type": "string", "pattern": "^[a-z]+$"}},
    "required": ["n"],
    "additionalProperties": false
}"#;

fn validation_message(input: &str) -> Option<String> {
    let tool = StructuredOutput::new(SCHEMA).unwrap();
    let problem = tool.assess(&RawJson::parse(input).unwrap()).problem;
    problem.map(|problem| problem.message.to_string())
}

#[test]
fn an_answer_that_fits_is_taken_and_the_schema_is_the_callers() {
    assert_eq!(validation_message(r#"{"n": 1, "who": "me"}"#), None);
    let spec = StructuredOutput::new(SCHEMA).unwrap().spec();
    assert_eq!(spec.input_schema.text(), SCHEMA);
}

#[test]
fn every_violation_is_named_with_its_place() {
    let reason = validation_message(r#"{"n": "one", "who": "ME"}"#).unwrap();
    assert!(reason.contains(" n: ") && reason.contains(" who: "), "{reason}");
    assert!(validation_message("{}").unwrap().contains("\"n\" is a required property"));
}

#[test]
fn a_schema_that_is_none_gives_one_sentence() {
    for (schema, expected) in [
        ("nonsense", "it is not JSON"),
        ("[1]", "it is not a JSON object"),
        (r#"{"type": "array"}"#, "a tool takes an object"),
        (r#"{"type": "object", "properties": {"a": {"type": "poem"}}}"#, "poem"),
        (r#"{"type": "object", "required": 3}"#, "3"),
        (r#"{"$ref": "file:///etc/passwd"}"#, "passwd"),
        (r#"{"$ref": "https://example.com/schema.json"}"#, "example.com"),
    ] {
        let error = StructuredOutput::new(schema).unwrap_err().to_string();
        assert!(error.starts_with("invalid output schema: "), "{error}");
        assert!(error.contains(expected), "{schema}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}
