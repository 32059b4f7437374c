//! Validates the input of a call against its tool's JSON Schema, before hooks, rules and the tool
//! itself see it.
//!
//! A schema is parsed when its tool is first called: a process that calls no tool pays nothing. It
//! is compiled when the fast check of `plain` does not accept a call.

mod plain;

use std::sync::OnceLock;

use serde_json::Value;
use windlass_core::call::outcome::ToolError;
use windlass_core::message::raw_json::RawJson;

use crate::json_schema::{JsonSchema, SchemaViolation};
use plain::PlainSchema;

#[cfg(test)]
#[path = "input_schema_tests.rs"]
mod input_schema_tests;

/// The largest number of violations that are reported at once.
const MAX_VIOLATIONS: usize = 3;

/// The largest number of characters of one violation: a value that does not fit may be long.
const MAX_VIOLATION_CHARS: usize = 300;

/// The schema of one tool, parsed and compiled as far as calls needed it.
#[derive(Default)]
pub(crate) struct InputSchema {
    plain: OnceLock<Option<PlainSchema>>,
    compiled: OnceLock<Result<JsonSchema, String>>,
}

impl InputSchema {
    /// Returns the problem with `input` if it does not fit the schema, which `schema` returns when
    /// it is needed.
    pub(crate) fn validate(
        &self,
        schema: impl Fn() -> RawJson,
        input: &RawJson,
    ) -> Option<ToolError> {
        // Whether the input is an object at all is checked by the core.
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
        let validator = match self.compiled.get_or_init(|| compile_schema(&schema())) {
            Ok(validator) => validator,
            Err(reason) => return Some(invalid_schema_error(reason)),
        };
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                return Some(invalid_input_error(&format!("the input is not JSON: {error}")));
            }
        };
        if validator.is_valid(&value) || validator.is_valid(&without_nulls(value.clone())) {
            return None;
        }
        describe_violations(validator, &value, MAX_VIOLATIONS)
            .map(|violations| invalid_input_error(&violations))
    }
}

fn compile_schema(schema: &RawJson) -> Result<JsonSchema, String> {
    let value: Value = schema.read().map_err(|error| error.to_string())?;
    JsonSchema::compile(&value).map_err(|reason| truncate_violation(&reason))
}

/// Removes properties that are `null`: some models write `null` for what they leave out.
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

/// Describes up to `limit` violations of a schema, each with the path of its value; `None` if the
/// value matches.
#[must_use]
pub fn describe_violations(schema: &JsonSchema, value: &Value, limit: usize) -> Option<String> {
    let violations = schema.violations(value, limit);
    let violations: Vec<String> = violations.iter().map(describe_violation).collect();
    (!violations.is_empty()).then(|| violations.join("; "))
}

fn describe_violation(violation: &SchemaViolation) -> String {
    let message = truncate_violation(&violation.message);
    match violation.path.trim_start_matches('/').replace('/', ".").as_str() {
        "" => message,
        path => format!("{}: {message}", truncate_violation(path)),
    }
}

/// Shortens the description of a violation, which may quote a long value.
#[must_use]
pub fn truncate_violation(text: &str) -> String {
    match text.chars().count() > MAX_VIOLATION_CHARS {
        true => text.chars().take(MAX_VIOLATION_CHARS).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

fn invalid_input_error(reason: &str) -> ToolError {
    ToolError::new(
        "invalid_input",
        &format!("the input does not match the tool's schema: {reason}"),
        "correct the input to match the schema, then call the tool again",
    )
}

fn invalid_schema_error(reason: &str) -> ToolError {
    ToolError::new(
        "invalid_schema",
        &format!("the tool's schema is invalid: {reason}"),
        "use another tool, and tell the user that this one is broken",
    )
}
