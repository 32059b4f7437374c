//! Checks the input of a call against its tool's JSON Schema, before hooks, rules and the tool itself see
//! it.
//!
//! A schema is read when its tool is first called: a process that calls no tool pays nothing. It is
//! compiled when the quick check of `plain` does not accept a call.

mod plain;

use std::sync::OnceLock;

use jsonschema::{Draft, ValidationError, Validator};
use serde_json::Value;
use windlass_core::outcome::ToolError;
use windlass_core::raw::Raw;

use plain::PlainSchema;

#[cfg(test)]
#[path = "schema_tests.rs"]
mod schema_tests;

/// Violations that are told at once.
const MOST_VIOLATIONS: usize = 3;

/// Characters of one violation: a value that does not fit may be long.
const VIOLATION_CHARS: usize = 300;

/// The schema of one tool, as far as calls needed it.
#[derive(Default)]
pub(crate) struct InputSchema {
    plain: OnceLock<Option<PlainSchema>>,
    compiled: OnceLock<Result<Validator, String>>,
}

impl InputSchema {
    /// The problem with `input`, if it does not fit the schema, which is asked for when it is needed.
    pub(crate) fn problem(&self, schema: impl Fn() -> Raw, input: &Raw) -> Option<ToolError> {
        // That the input is an object at all is the core's to say.
        if !input.is_object() {
            return None;
        }
        let value: Result<Value, _> = input.read();
        let plain = self.plain.get_or_init(|| PlainSchema::read(&schema().read().ok()?));
        if let (Some(plain), Ok(value)) = (plain, &value)
            && (plain.surely_fits(value) || plain.surely_fits(&without_nulls(value.clone())))
        {
            return None;
        }
        let validator = match self.compiled.get_or_init(|| compile(&schema())) {
            Ok(validator) => validator,
            Err(why) => return Some(unusable(why)),
        };
        let value = match value {
            Ok(value) => value,
            Err(error) => return Some(unfit(&format!("the input is not JSON: {error}"))),
        };
        if validator.is_valid(&value) || validator.is_valid(&without_nulls(value.clone())) {
            return None;
        }
        let found: Vec<String> =
            validator.iter_errors(&value).take(MOST_VIOLATIONS).map(|error| told(&error)).collect();
        Some(unfit(&found.join("; ")))
    }
}

fn compile(schema: &Raw) -> Result<Validator, String> {
    let value: Value = schema.read().map_err(|error| error.to_string())?;
    // A schema is itself checked against the schema of its draft, and that of draft 7 is compiled
    // much faster than that of 2020-12.
    let options = match is_same_in_draft_7(&value) {
        true => jsonschema::options().with_draft(Draft::Draft7),
        false => jsonschema::options(),
    };
    options.build(&value).map_err(|error| short(&error.to_string()))
}

/// Keywords that mean the same in every draft since 7, and hold no schema.
const PLAIN_KEYWORDS: [&str; 19] = [
    "type",
    "required",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "title",
    "description",
    "default",
    "examples",
];

/// Whether `schema` has only keywords that mean the same in draft 7 as in 2020-12.
fn is_same_in_draft_7(schema: &Value) -> bool {
    let Value::Object(keywords) = schema else { return schema.is_boolean() };
    keywords.iter().all(|(keyword, value)| match (keyword.as_str(), value) {
        ("properties", Value::Object(members)) => members.values().all(is_same_in_draft_7),
        ("items" | "additionalProperties" | "not", value) => is_same_in_draft_7(value),
        ("anyOf" | "oneOf" | "allOf", Value::Array(choices)) => {
            choices.iter().all(is_same_in_draft_7)
        }
        (keyword, _) => PLAIN_KEYWORDS.contains(&keyword),
    })
}

/// Some models write `null` for what they leave out.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

fn told(error: &ValidationError<'_>) -> String {
    let path = error.instance_path().as_str().trim_start_matches('/').replace('/', ".");
    match path.as_str() {
        "" => short(&error.to_string()),
        path => format!("{}: {}", short(path), short(&error.to_string())),
    }
}

fn short(text: &str) -> String {
    match text.chars().count() > VIOLATION_CHARS {
        true => text.chars().take(VIOLATION_CHARS).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

fn unfit(why: &str) -> ToolError {
    ToolError::new(
        "invalid_input",
        &format!("the input does not fit the tool's schema: {why}"),
        "correct the input so that it fits the schema, then call again",
    )
}

fn unusable(why: &str) -> ToolError {
    ToolError::new(
        "invalid_schema",
        &format!("the tool's own schema cannot be used: {why}"),
        "use another tool, and tell the user that this one is broken",
    )
}
